// The head's side of a shared folder: brings one node to what the head has of it, once. A thread of
// its own reads the files, so that a slow disk or link holds up nobody else.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/connection/wire.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

class ShareSource {
 public:
  struct Status {
    bool done = false;
    std::string why;               ///< why the node cannot get it; empty: it can
    int64_t files = 0, bytes = 0;  ///< that were sent
    double moved = 0;              ///< monotonic seconds of the last sign that it goes on
  };

  /// `share`: the folder's name, as run.json has it.
  ShareSource(const RunFolder& folder, const std::string& share);
  /// Waits for the thread for 2 s at most: what it reads may never come.
  ~ShareSource();
  ShareSource(const ShareSource&) = delete;
  ShareSource& operator=(const ShareSource&) = delete;

  /// A connection of the node, authenticated. It takes the place of an earlier one.
  void take(std::unique_ptr<Wire> wire);
  Status status() const;
  /// The thread may end now: what it does is not waited for any more.
  void give_up();

 private:
  /// What both threads use. The thread holds it too, since it may outlive its owner.
  struct Shared {
    std::mutex mutex;
    std::condition_variable came;
    std::unique_ptr<Wire> wire;
    Status status;
    bool over = false, ended = false;
  };
  class Work;

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace trainyard
