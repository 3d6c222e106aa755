// The node's side of the mirror: keeps a copy of the head's run folder beside what the node itself
// has of the run. A thread of its own writes it, over a connection of its own to the head, so that
// a slow disk holds up neither ranks nor signs of life.
#pragma once
#include <atomic>
#include <memory>
#include <thread>

#include "agent/join/node_ranks.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

class MirrorCopy {
 public:
  MirrorCopy(const RunFolder& folder, JoinSpec spec);
  /// Waits for the thread for 2 s at most: a write may never end.
  ~MirrorCopy();
  MirrorCopy(const MirrorCopy&) = delete;
  MirrorCopy& operator=(const MirrorCopy&) = delete;

  /// The run is over: the copy ends once the head has sent the last of it, or is gone.
  void finish() { flags_->last = true; }
  bool has_ended() const { return flags_->ended; }

 private:
  struct Flags {
    std::atomic<bool> last = false, over = false, ended = false;
  };
  std::shared_ptr<Flags> flags_;
  std::thread thread_;
};

}  // namespace trainyard
