// stop.json: how a run is asked to end.
#pragma once
#include <csignal>
#include <optional>
#include <string>

#include "agent/run/folder/run_folder.h"

namespace trainyard {

struct StopRequest {
  enum class Mode { checkpoint, now } mode = Mode::checkpoint;
  std::string by;
};

const char* mode_name(StopRequest::Mode mode);

/// " by user@host", or nothing where it is not known who asked.
std::string by_text(const StopRequest& request);

/// The exit code of a run that was stopped so: 75, or that of a program ended by SIGKILL.
int stop_code(StopRequest::Mode mode);

/// Asks a supervisor for a stop at once; SIGTERM and SIGINT ask for one after a checkpoint.
constexpr int kStopNowSignal = SIGUSR1;

/// What a signal asks a supervisor for, if it is one of these.
std::optional<StopRequest::Mode> stop_mode(int signal);

/// The request in the folder, if there is one that can be read.
std::optional<StopRequest> read_stop_request(const RunFolder& folder);

/// Puts the request there; one that asks for less than what already stands there changes nothing.
/// Throws file_error.
void write_stop_request(const RunFolder& folder, const StopRequest& request);

/// Takes away the request of an earlier life of the run.
void remove_stop_request(const RunFolder& folder);

}  // namespace trainyard
