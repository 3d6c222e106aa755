// The head's side of the mirror: sends what changes in the run folder to the node that keeps a copy
// of it. A thread of its own reads the files, so that a slow disk or link holds up nobody else.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "agent/cluster/file_thread.h"
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

  /// A connection of the mirror, authenticated. It takes the place of an earlier one.
  void take(std::unique_ptr<Wire> wire) { thread_.take(std::move(wire)); }
  Status status() const;

  /// Of a look at the folder that has not begun yet, so that it finds all that is there now, also
  /// what was written a moment ago: nothing more is written.
  int64_t last_look();
  /// Whether the mirror has everything that this look found, or cannot get it.
  bool is_done(int64_t look) const;

 private:
  struct Shared : FileThreadState {
    Status status;
    bool connected = false, last = false;
    int64_t begun = 0, done = 0;  ///< looks
  };
  class Work;
  static void serve(const RunFolder& folder, Shared& shared);

  std::shared_ptr<Shared> shared_;
  FileThread thread_;
};

}  // namespace trainyard
