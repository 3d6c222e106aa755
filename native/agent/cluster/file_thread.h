// A thread of the head that sends files to one node. A disk or link that hangs holds up no other
// node.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "agent/connection/wire.h"

namespace trainyard {

/// What the thread and its owner both use.
struct FileThreadState {
  std::mutex mutex;
  std::condition_variable came;
  std::unique_ptr<Wire> wire;  ///< the newest connection, until the thread takes it
  bool over = false;           ///< the thread is to end
  bool ended = false;
};

class FileThread {
 public:
  /// `work` holds the state too, since the thread may outlive its owner, and returns once `over`.
  FileThread(std::shared_ptr<FileThreadState> state, std::function<void()> work);
  /// Waits for the thread for 2 s at most: what it reads may never come.
  ~FileThread();
  FileThread(const FileThread&) = delete;
  FileThread& operator=(const FileThread&) = delete;

  /// A connection of the node, authenticated. It takes the place of an earlier one.
  void take(std::unique_ptr<Wire> wire);
  void give_up();

 private:
  std::shared_ptr<FileThreadState> state_;
  std::thread thread_;
};

}  // namespace trainyard
