#include "agent/join/node_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "agent/messages/base64.h"
#include "agent/ranks/heartbeat.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kBeatSeconds = 0.25;     // between heartbeats that changed
constexpr double kIdleBeatSeconds = 1.0;  // a sign of life of the node itself
constexpr size_t kPiece = 48 << 10;       // of a log, in one line
constexpr size_t kHighWater = 192 << 10;  // bytes waiting to be sent: no further piece of a log above this

/// The file's text once it is whole JSON.
std::string record_text(const std::string& path) {
  const auto json = read_json_object(path);
  return json ? to_line(*json) : "";
}

}  // namespace

NodeCopy::NodeCopy(const RunFolder& folder) : folder_(folder) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder.file("logs"), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("rank-")) {
      const int rank = std::atoi(name.c_str() + 5);
      size_at_start_[rank] = log_size(rank);
    }
  }
}

uint64_t NodeCopy::log_size(int rank) const {
  struct stat info{};
  const std::string path = folder_.log("rank-" + std::to_string(rank));
  return ::stat(path.c_str(), &info) == 0 ? static_cast<uint64_t>(info.st_size) : 0;
}

void NodeCopy::begin(int generation, int first, int count) {
  generation_ = generation;
  ranks_.clear();
  for (int rank = first; rank < first + count; ++rank) {
    ranks_[rank];
    offsets_.try_emplace(rank, 0);
  }
  next_beat_ = next_idle_beat_ = 0;
}

void NodeCopy::set_offsets(const Json& copied) {
  if (!copied.is_object()) {
    offsets_ = size_at_start_;
  } else {
    for (auto& [rank, offset] : offsets_) offset = 0;
    for (const auto& [rank, offset] : copied.items()) offsets_[std::atoi(rank.c_str())] = offset.get<uint64_t>();
  }
  for (const auto& [rank, sent] : ranks_) offsets_.try_emplace(rank, 0);
}

void NodeCopy::pump(Wire& wire) {
  send_records(wire);
  send_beat(wire);
  send_logs(wire);
}

void NodeCopy::send_records(Wire& wire) {
  for (auto& [rank, sent] : ranks_) {
    if (!sent.started) {
      const std::string text = record_text(folder_.start_record(generation_, rank));
      if (!text.empty()) {
        wire.send({{"kind", "started"}, {"generation", generation_}, {"rank", rank}, {"text", text}});
        sent.started = true;
      }
    }
    if (sent.started && !sent.ended) {
      const std::string text = record_text(folder_.exit_record(generation_, rank));
      if (!text.empty()) {
        wire.send({{"kind", "ended"}, {"generation", generation_}, {"rank", rank}, {"text", text}});
        sent.ended = true;
      }
    }
  }
}

void NodeCopy::send_beat(Wire& wire) {
  const double now = monotonic_seconds();
  if (now < next_beat_) return;
  next_beat_ = now + kBeatSeconds;
  Json beats = Json::array();
  for (auto& [rank, sent] : ranks_) {
    const auto beat = read_heartbeat(folder_.heartbeat(rank));
    if (!beat || beat->text == sent.beat) continue;
    sent.beat = beat->text;
    beats.push_back({rank, beat->text});
  }
  if (beats.empty() && now < next_idle_beat_) return;
  next_idle_beat_ = now + kIdleBeatSeconds;
  wire.send({{"kind", "beat"}, {"generation", generation_}, {"ranks", beats}});
}

void NodeCopy::send_logs(Wire& wire) {
  std::string piece(kPiece, '\0');
  for (size_t idle = 0; idle < offsets_.size() && wire.waiting() < kHighWater;) {
    auto entry = offsets_.upper_bound(next_log_);
    if (entry == offsets_.end()) entry = offsets_.begin();
    next_log_ = entry->first;
    auto& [rank, offset] = *entry;
    if (log_size(rank) <= offset) {
      ++idle;
      continue;
    }
    const Descriptor fd(::open(folder_.log("rank-" + std::to_string(rank)).c_str(), O_RDONLY | O_CLOEXEC));
    const ssize_t got = fd ? ::pread(fd.get(), piece.data(), piece.size(), static_cast<off_t>(offset)) : -1;
    if (got <= 0) {
      ++idle;
      continue;
    }
    const std::string_view bytes(piece.data(), static_cast<size_t>(got));
    wire.send({{"kind", "log"}, {"rank", rank}, {"offset", offset}, {"data", base64(bytes)}});
    offset += bytes.size();
    idle = 0;
  }
}

bool NodeCopy::drained() const {
  for (const auto& [rank, offset] : offsets_) {
    if (log_size(rank) > offset) return false;
  }
  for (const auto& [rank, sent] : ranks_) {
    if (!sent.ended && !record_text(folder_.exit_record(generation_, rank)).empty()) return false;
  }
  return true;
}

}  // namespace trainyard
