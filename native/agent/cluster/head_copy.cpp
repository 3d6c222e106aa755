#include "agent/cluster/head_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "agent/messages/base64.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {
constexpr int kMostRanks = 4096;
constexpr size_t kHeartbeatBytes = 127;
}  // namespace

void HeadCopy::set_ranks(int generation, int first, int count) {
  generation_ = generation;
  first_ = first;
  count_ = count;
  missed_.clear();
  figures_.set_part(first == 0 && count > 0);
}

Json HeadCopy::offsets() const {
  if (!known_) return nullptr;
  Json json = Json::object();
  for (const auto& [rank, log] : logs_) json[std::to_string(rank)] = log.copied;
  return json;
}

Json HeadCopy::timed() const {
  Json json = Json::object();
  for (const auto& [rank, log] : logs_) json[std::to_string(rank)] = log.timed;
  return json;
}

bool HeadCopy::is_ours(int64_t generation, int64_t rank) const {
  return generation == generation_ && rank >= first_ && rank < first_ + count_;
}

bool HeadCopy::take(const std::string& kind, const Json& message) {
  try {
    write_missed();  // each second, as a node says so often that it is there
    if (kind == "started" || kind == "ended") {
      take_record(message, kind == "ended");
    } else if (kind == "beat") {
      take_beat(message);
    } else if (kind == "log") {
      take_log(message);
    } else if (kind == "figures") {
      figures_.take(message);
    } else if (kind == "times") {
      take_times(message);
    } else if (kind == "sample") {
      const Json line = parse_json(Fields(message, kind).string("line"));
      samples_.append(to_line(line));
    } else {
      return false;
    }
  } catch (const Error& error) {  // a full disk must not end a run that still computes
    std::fprintf(stderr, "agent: warning: %s\n", error.what());
  }
  return true;
}

void HeadCopy::take_record(const Json& message, bool ended) {
  const Fields fields(message, "record");
  const int64_t generation = fields.integer("generation", 1, INT32_MAX), rank = fields.integer("rank", 0, kMostRanks);
  if (!is_ours(generation, rank)) return;  // of a generation that has ended
  const Json record = parse_json(fields.string("text"));
  if (!record.is_object()) throw FieldError("a record is no object");
  const std::string path = ended ? folder_.exit_record(generation_, static_cast<int>(rank))
                                 : folder_.start_record(generation_, static_cast<int>(rank));
  const auto missed = missed_.insert_or_assign(path, to_line(record) + "\n").first;
  replace_file(path, missed->second);
  missed_.erase(missed);
}

void HeadCopy::write_missed() {
  figures_.flush();
  for (auto one = missed_.begin(); one != missed_.end(); one = missed_.erase(one)) {
    try {
      replace_file(one->first, one->second);
    } catch (const Error&) {
      return;  // take() has warned already
    }
  }
}

void HeadCopy::take_beat(const Json& message) {
  const Fields fields(message, "beat");
  const int64_t generation = fields.integer("generation", 0, INT32_MAX);
  const Json* ranks = fields.find("ranks");
  if (ranks == nullptr || !ranks->is_array()) throw FieldError("a beat names no ranks");
  for (const Json& one : *ranks) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number_integer() || !one[1].is_string()) {
      throw FieldError("a beat is none");
    }
    if (!is_ours(generation, one[0].get<int64_t>())) continue;
    std::string text = to_line(parse_json(one[1].get<std::string>()));
    if (text.size() > kHeartbeatBytes) continue;
    text.resize(kHeartbeatBytes, ' ');
    text.push_back('\n');
    const std::string path = folder_.heartbeat(one[0].get<int>());
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (!fd || ::pwrite(fd.get(), text.data(), text.size(), 0) < 0) throw file_error("write", path);
  }
}

void HeadCopy::take_log(const Json& message) {
  const Fields fields(message, "log");
  const int rank = static_cast<int>(fields.integer("rank", 0, kMostRanks));
  const auto offset = static_cast<uint64_t>(fields.integer("offset", 0, INT64_MAX));
  const auto bytes = decode_base64(fields.string("data"));
  if (!bytes) throw FieldError("a log's bytes are no base64");
  const std::string name = "rank-" + std::to_string(rank);
  auto known = logs_.find(rank);
  if (known == logs_.end()) {
    known = logs_.try_emplace(rank, Log{offset, offset, 0, LogTimeFile(folder_, name)}).first;
  }
  Log& log = known->second;
  if (log.copied != offset) throw FieldError("a log's bytes do not follow the last");
  log.copied = offset + bytes->size();  // also where the disk is full: what was lost is not sent again and again
  const std::string path = folder_.log(name);
  const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!fd) throw file_error("open", path);
  log.shift = static_cast<int64_t>(log_size(path)) - static_cast<int64_t>(offset);
  write_all(fd.get(), *bytes, path);
}

void HeadCopy::take_times(const Json& message) {
  const Fields fields(message, "times");
  const auto known = logs_.find(static_cast<int>(fields.integer("rank", 0, kMostRanks)));
  const Json* entries = fields.find("entries");
  if (known == logs_.end() || entries == nullptr || !entries->is_array()) throw FieldError("times are of no log");
  Log& log = known->second;
  for (const Json& entry : *entries) {
    const auto time = log_time(entry);
    if (!time || time->size > log.copied) throw FieldError("a time of a log is none");
    if (time->size <= log.timed) continue;
    log.timed = time->size;
    const int64_t size = static_cast<int64_t>(time->size) + log.shift;
    if (size > 0) log.times.append({static_cast<uint64_t>(size), time->milliseconds});
  }
}

}  // namespace trainyard
