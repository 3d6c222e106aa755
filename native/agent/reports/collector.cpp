#include "agent/reports/collector.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "agent/run/folder/shared_files.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kSearchSeconds = 1;
constexpr double kBeforeSeconds = 5;  // clocks of file systems differ a little
constexpr size_t kMostFiles = 500;
constexpr size_t kMostSeries = 2000;
constexpr size_t kLongestTag = 256;
constexpr size_t kMostAtOnce = 200;
constexpr int kReadsAtOnce = 8;
constexpr const char* kState = "figures.state.json";

}  // namespace

std::vector<Scalar> thinned(const std::vector<Scalar>& figures) {
  if (figures.size() <= kMostAtOnce) return figures;
  std::vector<Scalar> kept;
  const size_t stretches = kMostAtOnce / 3;
  for (size_t one = 0; one < stretches; ++one) {
    const size_t begin = one * figures.size() / stretches, end = (one + 1) * figures.size() / stretches;
    std::set<size_t> places{end - 1};
    size_t least = end - 1, greatest = end - 1;
    for (size_t at = begin; at < end; ++at) {
      if (!std::isfinite(figures[at].value)) continue;
      if (!std::isfinite(figures[least].value) || figures[at].value < figures[least].value) least = at;
      if (!std::isfinite(figures[greatest].value) || figures[at].value > figures[greatest].value) greatest = at;
    }
    places.insert({least, greatest});
    for (const size_t place : places) kept.push_back(figures[place]);
  }
  return kept;
}

Collector::Collector(const RunFolder& folder, const std::string& logdir, double began, Notice notice,
                     const std::string& prefix)
    : folder_(folder),
      figures_(folder.file(prefix + "figures.jsonl")),
      state_(folder.file(prefix + kState)),
      began_(began),
      notice_(std::move(notice)),
      own_lines_(folder.metrics()) {
  if (!logdir.empty()) roots_.push_back({logdir, false});
  roots_.push_back({folder.dir(), true});
  load();
}

bool Collector::look() {
  const double now = monotonic_seconds();
  if (now >= next_search_) {
    next_search_ = now + kSearchSeconds;
    find_files();
  }
  bool more = false;
  try {
    std::vector<std::pair<std::string, Source*>> in_order;
    for (auto& [path, source] : sources_) in_order.emplace_back(path, &source);
    std::ranges::stable_sort(in_order, {}, [](const auto& one) { return one.second->generation; });
    for (auto& [path, source] : in_order) more = read(path, *source) || more;
    more = read_own_lines() || more;
    said_.erase("disk");
    if (changed_) save();
    changed_ = false;
  } catch (const Error& error) {
    say_once("disk", "figures_delayed", {{"reason", error.what()}});
    return false;
  }
  first_look_ = false;
  return more;
}

void Collector::find_files() {
  bool cut = false;
  for (const EventPath& found : find_event_files(roots_, cut)) {
    if (sources_.contains(found.path)) continue;
    if (sources_.size() < kMostFiles) {
      add(found);
    } else {
      cut = true;
    }
  }
  if (cut) say_once("files", "figures_limited", {{"what", "files"}, {"most", kMostFiles}});
}

void Collector::add(const EventPath& found) {
  const bool inside = found.path.starts_with(folder_.dir() + "/");
  Source source{EventFile(found.path), "", generation_, false};
  source.ended = (first_look_ && !inside && found.written < began_ - kBeforeSeconds) ||
                 (inside && SharedRecord(folder_).is_unchanged(named(found.path)));
  if (!source.ended) source.writer = writer_of(found);
  sources_.emplace(found.path, std::move(source));
  changed_ = true;
}

std::string Collector::writer_of(const EventPath& found) {
  auto& [generation, processes] = processes_[found.path.substr(0, found.path.size() - found.name.size())];
  if (generation != generation_) {
    generation = generation_;
    processes.clear();
  }
  const std::string process = process_of(found.name);
  auto place = std::ranges::find(processes, process);
  if (place == processes.end()) place = processes.insert(processes.end(), process);
  const auto number = place - processes.begin();
  return number == 0 ? found.folder : found.folder + "#" + std::to_string(number + 1);
}

bool Collector::read(const std::string& path, Source& source) {
  bool more = false;
  for (int reads = 0; reads < kReadsAtOnce && !source.ended; ++reads) {
    const uint64_t before = source.file.offset();
    const EventFile::Read found = source.file.read();
    try {
      append(found.scalars, named(path), source.writer, source.generation);
    } catch (const Error&) {
      source.file.go_back(before);
      throw;
    }
    if (source.file.offset() != before) changed_ = true;
    if (source.file.damage()) {
      source.ended = true;
      changed_ = true;
      notice_("figures_damaged", {{"file", named(path)}, {"reason", *source.file.damage()}});
    }
    more = found.more;
    if (!more) return false;
  }
  return more;
}

bool Collector::read_own_lines() {
  OwnLines ahead = own_lines_;
  const OwnLines::Read found = ahead.read(now_seconds());
  if (ahead.offset() == own_lines_.offset()) return false;
  std::map<std::string, std::vector<Scalar>> by_writer;
  for (const OwnLine& line : found.lines) {
    auto& scalars = by_writer[line.writer];
    scalars.insert(scalars.end(), line.scalars.begin(), line.scalars.end());
  }
  for (const auto& [writer, scalars] : by_writer) append(scalars, "metrics.jsonl", writer, generation_);
  own_lines_ = std::move(ahead);
  changed_ = true;
  if (found.wrong > 0) {
    say_once("lines", "figures_passed_over", {{"file", "metrics.jsonl"}, {"lines", 1}, {"reason", found.first_wrong}});
  }
  wrong_ += found.wrong;
  return found.more;
}

void Collector::conclude() {
  if (wrong_ > 1) {
    notice_("figures_passed_over",
            {{"file", "metrics.jsonl"}, {"lines", wrong_}, {"reason", "so many in all; the first was said"}});
  }
}

std::string Collector::named(const std::string& path) const {
  const std::string inside = folder_.dir() + "/";
  return path.starts_with(inside) ? path.substr(inside.size()) : path;
}

void Collector::append(const std::vector<Scalar>& scalars, const std::string& source, const std::string& writer,
                       int generation) {
  std::map<std::string, std::vector<Scalar>> by_tag;
  std::vector<std::string> order;
  for (const Scalar& one : scalars) {
    if (one.tag.size() > kLongestTag || !has_room_for(writer + '\n' + one.tag)) continue;
    auto& figures = by_tag[one.tag];
    if (figures.empty()) order.push_back(one.tag);
    figures.push_back(one);
  }
  std::string lines;
  for (const std::string& tag : order) {
    for (const Scalar& one : thinned(by_tag[tag])) {
      if (!lines.empty()) lines += '\n';
      lines += to_line({{"tag", tag},
                        {"step", one.step},
                        {"value", std::isfinite(one.value) ? Json(one.value) : Json(nullptr)},
                        {"time", std::isfinite(one.time) ? one.time : now_seconds()},
                        {"generation", generation},
                        {"writer", writer},
                        {"source", source}});
    }
  }
  if (!lines.empty()) LineFile(figures_).append(lines);
}

bool Collector::has_room_for(const std::string& series) {
  if (series_.contains(series)) return true;
  if (series_.size() < kMostSeries) return series_.insert(series).second;
  say_once("tags", "figures_limited", {{"what", "tags"}, {"most", kMostSeries}});
  return false;
}

void Collector::say_once(const std::string& key, const std::string& kind, const Json& fields) {
  if (said_.insert(key).second) notice_(kind, fields);
}

void Collector::load() {
  const auto state = read_json_object(state_);
  if (!state) return;
  try {
    const Fields fields(*state, kState);
    own_lines_ = OwnLines(folder_.metrics(), static_cast<uint64_t>(fields.integer_or("lines", 0, 0, INT64_MAX)));
    const Json* files = fields.find("files");
    if (files == nullptr || !files->is_array()) return;
    for (const Json& one : *files) {
      const Fields file(one, kState);
      const std::string path = file.string("path");
      Source source{EventFile(path, static_cast<uint64_t>(file.integer("offset", 0, INT64_MAX))), file.string("writer"),
                    static_cast<int>(file.integer("generation", 0, INT32_MAX)), file.boolean_or("ended", false)};
      sources_.emplace(path, std::move(source));
    }
    first_look_ = false;
  } catch (const FieldError&) {
    sources_.clear();  // reading all of it anew gives the same figures again
  }
}

void Collector::save() {
  Json files = Json::array();
  for (const auto& [path, source] : sources_) {
    files.push_back({{"path", path},
                     {"offset", source.file.offset()},
                     {"writer", source.writer},
                     {"generation", source.generation},
                     {"ended", source.ended}});
  }
  replace_file(state_, to_line({{"lines", own_lines_.offset()}, {"files", files}}) + "\n");
}

}  // namespace trainyard
