// TensorBoard for a run: a process of its own that serves the run folder on a private Unix socket.
#pragma once
#include <optional>
#include <string>

#include "agent/run/folder/run_folder.h"
#include "common/process.h"

namespace trainyard {

struct TensorboardOptions {
  std::string python;
  std::string server;  ///< tensorboard_server.py
  double idle = 3600;  ///< seconds without a request after which it ends; 0: never
};

struct TensorboardProcess {
  ProcessId process;
  std::string socket;
};

/// What <run>/tensorboard.json names, if that process is alive.
std::optional<TensorboardProcess> living_tensorboard(const RunFolder& folder);

/// Whether a process of this user accepts connections on that Unix socket.
bool socket_answers(const std::string& path);

/// Starts TensorBoard unless one already serves the folder. Takes some seconds, so it goes in
/// steps.
class TensorboardStart {
 public:
  /// Throws Error when it cannot be started at all.
  TensorboardStart(const RunFolder& folder, const TensorboardOptions& options);

  /// The process once it serves, nothing before. Throws Error with the end of its log when it ended
  /// or took over 90 s, and where another user could put a socket in the place of its own.
  std::optional<TensorboardProcess> step();
  const TensorboardProcess& started() const { return started_; }

 private:
  RunFolder folder_;
  TensorboardProcess started_;
  double deadline_;
};

/// Ends the TensorBoard of a folder: SIGTERM, then SIGKILL after 3 s. In steps.
class TensorboardStop {
 public:
  explicit TensorboardStop(const RunFolder& folder);
  bool step();  ///< true when none is left

 private:
  RunFolder folder_;
  std::optional<TensorboardProcess> running_;
  double kill_at_;
};

}  // namespace trainyard
