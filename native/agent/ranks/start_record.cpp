#include "agent/ranks/start_record.h"

#include <unistd.h>

#include <utility>

#include "agent/messages/json.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kPortSeconds = 30;  // less than a generation waits for its ranks to start

}  // namespace

StartRecord::StartRecord(const RunFolder& folder, int generation, int rank, int program,
                         std::optional<DebugPlace> debug)
    : path_(folder.start_record(generation, rank)),
      rank_(rank),
      program_{program, process_start_time(program).value_or(0)},
      debug_(std::move(debug)),
      begun_(monotonic_seconds()) {
  look();
}

void StartRecord::look() {
  if (written_) return;
  const bool waits = debug_ && monotonic_seconds() - begun_ < kPortSeconds;
  if (!waits || listens_on_loopback(debug_->port)) write();
}

void StartRecord::finish() {
  if (written_) return;
  debug_.reset();  // nobody can attach any more
  write();
}

void StartRecord::write() {
  Json json{{"rank", rank_},
            {"host", host_name()},
            {"pid", program_.pid},
            {"startTime", program_.start_time},
            {"wrapper", {{"pid", ::getpid()}, {"startTime", process_start_time(::getpid()).value_or(0)}}},
            {"time", now_seconds()}};
  if (debug_) json["debug"] = {{"port", debug_->port}, {"folder", debug_->folder}};
  replace_file(path_, to_line(json) + "\n");
  written_ = true;
}

}  // namespace trainyard
