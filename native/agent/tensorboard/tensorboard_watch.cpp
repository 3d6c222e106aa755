#include "agent/tensorboard/tensorboard_watch.h"

#include <sys/wait.h>

#include "common/error.h"

namespace trainyard {

namespace {
Json exited(const TensorboardProcess& process, const Json& code) {
  return {{"pid", process.process.pid}, {"socket", process.socket}, {"exit_code", code}};
}
}  // namespace

void TensorboardWatch::start(const RunFolder& folder, const RunSpec& spec, Journal& journal) {
  try {
    starting_ = std::make_unique<TensorboardStart>(
        folder, TensorboardOptions{spec.python, spec.tensorboard_server, spec.tensorboard_idle});
  } catch (const Error& error) {
    failed(error.what(), journal);
  }
}

void TensorboardWatch::failed(const std::string& message, Journal& journal) {
  Json fields = exited(starting_ ? starting_->started() : TensorboardProcess(), nullptr);
  fields["message"] = message;
  journal.event("tensorboard_exited", fields);
  starting_.reset();
}

void TensorboardWatch::look(Journal& journal) {
  if (starting_) {
    try {
      serving_ = starting_->step();
    } catch (const Error& error) {
      return failed(error.what(), journal);
    }
    if (!serving_) return;
    journal.event("tensorboard_started", {{"pid", serving_->process.pid}, {"socket", serving_->socket}});
    starting_.reset();
  } else if (serving_ && !is_alive(serving_->process)) {  // one that was there before us is no child of ours
    journal.event("tensorboard_exited", exited(*serving_, nullptr));
    serving_.reset();
  }
}

void TensorboardWatch::child_ended(int pid, int status, Journal& journal) {
  if (!serving_ || serving_->process.pid != pid) return;
  journal.event("tensorboard_exited", exited(*serving_, WIFEXITED(status) ? Json(WEXITSTATUS(status)) : Json(nullptr)));
  serving_.reset();
}

std::set<int> TensorboardWatch::spared() const {
  if (starting_) return {starting_->started().process.pid};
  if (serving_) return {serving_->process.pid};
  return {};
}

}  // namespace trainyard
