// The head's side of the mirror: sends what changes in the run folder to the node that keeps a copy
// of it. A thread of its own reads the files, so that a slow disk or link holds up nobody else.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "agent/connection/wire.h"
#include "agent/run/folder/mirrored_files.h"

namespace trainyard {

class MirrorSource {
 public:
  struct Status {
    /// The newest one of which the mirror has all files; empty: none.
    std::string checkpoint;
    /// Seconds since the epoch. The mirror had everything then; 0: it never had.
    double time = 0;
    /// Why the mirror cannot get what it lacks; empty: nothing keeps it from that.
    std::string why;
  };

  explicit MirrorSource(const RunFolder& folder);
  /// Waits for the thread for 2 s at most: what it reads may never come.
  ~MirrorSource();
  MirrorSource(const MirrorSource&) = delete;
  MirrorSource& operator=(const MirrorSource&) = delete;

  /// A connection of the mirror, authenticated. It takes the place of an earlier one.
  void take(std::unique_ptr<Wire> wire);
  Status status() const;

  /// Of a look at the folder that has not begun yet, so that it finds all that is there now, also
  /// what was written a moment ago: nothing more is written.
  int64_t last_look();
  /// Whether the mirror has everything that this look found, or cannot get it.
  bool is_done(int64_t look) const;

 private:
  /// What both threads use. The thread holds it too, since it may outlive its owner.
  struct Shared {
    std::mutex mutex;
    std::condition_variable came;
    std::unique_ptr<Wire> wire;
    Status status;
    bool connected = false, last = false, over = false, ended = false;
    int64_t begun = 0, done = 0;  ///< looks
  };
  class Work;

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace trainyard
