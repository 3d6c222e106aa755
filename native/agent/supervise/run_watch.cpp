#include "agent/supervise/run_watch.h"

#include <cstdio>

namespace trainyard {

namespace {
constexpr uint64_t kDiskLow = 1ULL << 30;  // bytes; said anew only after twice as much was free
}  // namespace

void RunWatch::look_at_metrics(Journal& journal) {
  for (const std::string& line : metrics_.lines()) {
    if (line.find("\"checkpoint") == std::string::npos) continue;  // steps by the thousand need no parsing
    try {
      const Json json = parse_json(line);
      const Fields fields(json, "metrics line");
      const std::string kind = fields.string("kind");
      const int64_t step = fields.integer_or("step", 0, 0, INT64_MAX);
      if (kind == "checkpoint") {
        journal.event(kind, {{"step", step},
                             {"path", fields.optional_string("path").value_or("")},
                             {"bytes", fields.integer_or("bytes", 0, 0, INT64_MAX)}});
      } else if (kind == "checkpoint_passed_over") {
        journal.event(kind, {{"step", step},
                             {"path", fields.optional_string("path").value_or("")},
                             {"reason", fields.optional_string("reason").value_or("")}});
      } else if (kind == "checkpoint_failed") {
        journal.event(kind, {{"step", step}, {"message", fields.optional_string("message").value_or("")}});
      }
    } catch (const FieldError& error) {
      std::fprintf(stderr, "agent: warning: a line of metrics.jsonl was passed over: %s\n", error.what());
    }
  }
}

void RunWatch::look_at_disk(std::optional<uint64_t> free, Journal& journal) {
  if (!free) return;
  if (*free < kDiskLow && !disk_was_low_) journal.event("disk_low", {{"free_bytes", *free}});
  if (*free < kDiskLow) disk_was_low_ = true;
  if (*free > 2 * kDiskLow) disk_was_low_ = false;
}

}  // namespace trainyard
