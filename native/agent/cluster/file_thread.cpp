#include "agent/cluster/file_thread.h"

#include <chrono>
#include <utility>

namespace trainyard {

namespace {

constexpr std::chrono::seconds kEnd{2};

}  // namespace

FileThread::FileThread(std::shared_ptr<FileThreadState> state, std::function<void()> work) : state_(std::move(state)) {
  thread_ = std::thread([state = state_, work = std::move(work)] {
    work();
    const std::scoped_lock lock(state->mutex);
    state->ended = true;
    state->came.notify_all();
  });
}

FileThread::~FileThread() {
  give_up();
  std::unique_lock lock(state_->mutex);
  const bool ended = state_->came.wait_for(lock, kEnd, [this] { return state_->ended; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
}

void FileThread::take(std::unique_ptr<Wire> wire) {
  const std::scoped_lock lock(state_->mutex);
  state_->wire = std::move(wire);
  state_->came.notify_all();
}

void FileThread::give_up() {
  const std::scoped_lock lock(state_->mutex);
  state_->over = true;
  state_->came.notify_all();
}

}  // namespace trainyard
