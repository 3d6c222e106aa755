// stop.json: how a run is asked to end.
#pragma once
#include <optional>
#include <string>

#include "agent/run/folder/run_folder.h"

namespace trainyard {

struct StopRequest {
  enum class Mode { checkpoint, now } mode = Mode::checkpoint;
  std::string by;
};

const char* mode_name(StopRequest::Mode mode);

/// The request in the folder, if there is one that can be read.
std::optional<StopRequest> read_stop_request(const RunFolder& folder);

/// Puts the request there; one that asks for less than what already stands there changes nothing.
/// Throws file_error.
void write_stop_request(const RunFolder& folder, const StopRequest& request);

/// Takes away the request of an earlier life of the run.
void remove_stop_request(const RunFolder& folder);

}  // namespace trainyard
