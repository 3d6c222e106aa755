#include "agent/run/stop_watch.h"

#include <unistd.h>

#include "agent/messages/json.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

const char* mode_name(StopRequest::Mode mode) { return mode == StopRequest::Mode::now ? "now" : "checkpoint"; }

std::string by_text(const StopRequest& request) { return request.by.empty() ? "" : " by " + request.by; }

int stop_code(StopRequest::Mode mode) {
  return mode == StopRequest::Mode::now ? 128 + SIGKILL : static_cast<int>(Exit::stopped);
}

std::optional<StopRequest::Mode> stop_mode(int signal) {
  if (signal == kStopNowSignal) return StopRequest::Mode::now;
  if (signal == SIGTERM || signal == SIGINT) return StopRequest::Mode::checkpoint;
  return std::nullopt;
}

std::optional<StopRequest> read_stop_request(const RunFolder& folder) {
  const auto json = read_json_object(folder.stop());
  if (!json) return std::nullopt;
  try {
    const Fields fields(*json, "stop.json");
    const std::string mode = fields.string("mode");
    if (mode != "now" && mode != "checkpoint") return std::nullopt;
    return StopRequest{mode == "now" ? StopRequest::Mode::now : StopRequest::Mode::checkpoint,
                       fields.optional_string("by").value_or("")};
  } catch (const FieldError&) {
    return std::nullopt;
  }
}

void write_stop_request(const RunFolder& folder, const StopRequest& request) {
  const auto standing = read_stop_request(folder);
  if (standing && standing->mode >= request.mode) return;
  replace_file(folder.stop(),
               to_line(Json{{"mode", mode_name(request.mode)}, {"time", now_seconds()}, {"by", request.by}}) + "\n");
}

void remove_stop_request(const RunFolder& folder) { ::unlink(folder.stop().c_str()); }

}  // namespace trainyard
