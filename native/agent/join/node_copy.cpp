#include "agent/join/node_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "agent/messages/base64.h"
#include "agent/ranks/heartbeat.h"
#include "agent/run/log_times.h"
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

NodeCopy::NodeCopy(const RunFolder& folder, const std::string& host) : folder_(folder), figures_(folder, host) {
  std::error_code failed;
  for (std::filesystem::directory_iterator entry(folder.file("logs"), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with("rank-")) {
      const int rank = std::atoi(name.c_str() + 5);
      size_at_start_[rank] = size_of_log(rank);
    }
  }
}

uint64_t NodeCopy::size_of_log(int rank) const { return log_size(folder_.log("rank-" + std::to_string(rank))); }

void NodeCopy::begin(int generation, int first, int count) {
  generation_ = generation;
  ranks_.clear();
  for (int rank = first; rank < first + count; ++rank) {
    ranks_[rank];
    offsets_.try_emplace(rank, 0);
  }
  next_beat_ = next_idle_beat_ = 0;
}

void NodeCopy::set_offsets(const Json& copied, const Json& timed, const Json& figures) {
  figures_.set_offset(figures.is_number_integer() ? std::optional(figures.get<uint64_t>()) : std::nullopt);
  times_.clear();
  if (!copied.is_object()) {
    is_new_here_ = true;
    offsets_ = size_at_start_;
    for (const auto& [rank, size] : size_at_start_) times_[rank].after = size;
  } else {
    // Of a rank that the head has nothing of yet, what an earlier life left is none of its bytes.
    for (auto& [rank, offset] : offsets_) {
      const auto before = size_at_start_.find(rank);
      offset = is_new_here_ && before != size_at_start_.end() ? before->second : 0;
      times_[rank].after = offset;
    }
    for (const auto& [rank, offset] : copied.items()) offsets_[std::atoi(rank.c_str())] = offset.get<uint64_t>();
    for (const auto& [rank, size] : timed.items()) times_[std::atoi(rank.c_str())].after = size.get<uint64_t>();
  }
  for (const auto& [rank, sent] : ranks_) offsets_.try_emplace(rank, 0);
}

void NodeCopy::pump(Wire& wire) {
  send_records(wire);
  send_beat(wire);
  send_logs(wire);
  send_times(wire);
  figures_.pump(wire);
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
    if (size_of_log(rank) <= offset) {
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

/// Lines of the files of times, as far as the head has the bytes that they are about.
void NodeCopy::send_times(Wire& wire) {
  for (const auto& [rank, offset] : offsets_) {
    if (wire.waiting() >= kHighWater) return;
    Times& times = times_[rank];
    const std::string path = folder_.log_times("rank-" + std::to_string(rank));
    if (log_size(path) <= times.read) continue;
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string piece(kPiece, '\0');
    const ssize_t got = fd ? ::pread(fd.get(), piece.data(), piece.size(), static_cast<off_t>(times.read)) : -1;
    piece.resize(got > 0 ? static_cast<size_t>(got) : 0);
    Json entries = Json::array();
    size_t begin = 0;
    for (size_t end; (end = piece.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto time = parse_log_time(std::string_view(piece).substr(begin, end - begin));
      if (!time || time->size <= times.after) continue;
      if (time->size > size_of_log(rank)) continue;  // of a log that somebody cut
      if (time->size > offset) break;
      times.after = time->size;
      entries.push_back({time->size, time->milliseconds});
    }
    times.read += begin;
    if (!entries.empty()) wire.send({{"kind", "times"}, {"rank", rank}, {"entries", entries}});
  }
}

bool NodeCopy::drained() const {
  for (const auto& [rank, offset] : offsets_) {
    if (size_of_log(rank) > offset) return false;
    const auto times = times_.find(rank);
    const uint64_t read = times == times_.end() ? 0 : times->second.read;
    if (log_size(folder_.log_times("rank-" + std::to_string(rank))) > read) return false;
  }
  for (const auto& [rank, sent] : ranks_) {
    if (!sent.ended && !record_text(folder_.exit_record(generation_, rank)).empty()) return false;
  }
  return true;
}

}  // namespace trainyard
