// The head's side of a shared folder: brings one node to what the head has of it, once. A thread of
// its own reads the files, so that a slow disk or link holds up nobody else.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "agent/cluster/file_thread.h"
#include "agent/connection/wire.h"
#include "agent/run/folder/run_folder.h"
#include "agent/system/clock.h"

namespace trainyard {

class ShareSource {
 public:
  struct Status {
    bool done = false;
    std::string why;                     ///< why the node cannot get it; empty: it can
    int64_t files = 0, bytes = 0;        ///< that were sent
    double moved = monotonic_seconds();  ///< monotonic seconds of the last sign that it goes on
  };

  /// `share`: the folder's name, as run.json has it.
  ShareSource(const RunFolder& folder, const std::string& share);

  /// A connection of the node, authenticated. It takes the place of an earlier one.
  void take(std::unique_ptr<Wire> wire) { thread_.take(std::move(wire)); }
  Status status() const;
  /// The thread may end now: nobody waits for the copy any more.
  void give_up() { thread_.give_up(); }

 private:
  struct Shared : FileThreadState {
    Status status;
  };
  class Work;
  static void serve(const RunFolder& folder, const std::string& share, Shared& shared);

  std::shared_ptr<Shared> shared_;
  FileThread thread_;
};

}  // namespace trainyard
