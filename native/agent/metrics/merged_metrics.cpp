#include "agent/metrics/merged_metrics.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr int64_t kShare = 4 << 20;
constexpr size_t kBlock = 256 << 10;  // it stays in the core's cache between its reading and its scanning
constexpr size_t kLongestLine = 8 << 20;

/// Kinds of lines that say nothing of how well a run learns.
constexpr std::array<std::string_view, 2> kLeftOut{"host", "gap"};
/// A run of many ranks has more of these lines than of all others.
constexpr std::string_view kHostLine = R"({"kind":"host",)";

/// Of these fields every line is read, whatever is asked for: which lines belong together, and
/// bounds.
constexpr uint32_t kCurves = bit_of(StepField::generation) | bit_of(StepField::step) | bit_of(StepField::loss) |
                             bit_of(StepField::images_per_sec);

/// Of these the last line's value stands.
constexpr bool is_last_value(StepField field) { return field == StepField::time || field == StepField::epoch; }
constexpr uint32_t kLast = bit_of(StepField::time) | bit_of(StepField::epoch) | bit_of(StepField::world);
/// Of these too, and they are whole numbers.
constexpr bool is_whole(StepField field) {
  return field == StepField::generation || field == StepField::step || field == StepField::world;
}

/// The step in the checkpoint's name, 0 where the line names no checkpoint, and nothing for a name
/// of somebody else.
std::optional<double> resumed_step(const Json& start) {
  const auto from = start.find("resumed_from");
  if (from == start.end() || !from->is_string()) return 0;
  const std::string& path = from->get_ref<const std::string&>();
  const auto step = step_of(std::string_view(path).substr(path.rfind('/') + 1));
  return step ? std::optional(static_cast<double>(*step)) : std::nullopt;
}

}  // namespace

void MergedSteps::begin_generation(std::optional<double> after) {
  last_.reset();
  before_ = after;
}

bool MergedSteps::continues(const StepLine& line) const {
  return !last_ || (line[StepField::generation] == (*last_)[StepField::generation] &&
                    line[StepField::step] > (*last_)[StepField::step]);
}

void MergedSteps::add(const StepLine& line, std::string_view text) {
  const bool first = sums_.lines == 0;
  const double rate = line[StepField::images_per_sec];
  const double loss = line[StepField::loss];
  for (size_t index = 0; index < kStepFields; ++index) sums_.values[index] += line.values[index];
  if (line.has_loss) {
    sums_.loss_min = sums_.losses == 0 ? loss : std::min(sums_.loss_min, loss);
    sums_.loss_max = sums_.losses == 0 ? loss : std::max(sums_.loss_max, loss);
    ++sums_.losses;
  }
  if (line.has_top1) ++sums_.top1s;
  sums_.rate_min = first ? rate : std::min(sums_.rate_min, rate);
  sums_.rate_max = first ? rate : std::max(sums_.rate_max, rate);
  if (line.images) sums_.images = sums_.images.value_or(0) + *line.images;
  const double step = line[StepField::step];
  if (rate > 0) {
    const double work = line.images.value_or(before_ ? step - *before_ : 0);
    sums_.work += work;
    sums_.work_time += work / rate;
  }
  ++sums_.lines;
  before_ = step;
  last_ = line;
  last_text_ = text;
}

Json MergedSteps::take() {
  const Sums sums = std::exchange(sums_, Sums());
  if (needed_ != kAllStepFields) last_ = StepLineReader().read(last_text_).value_or(*last_);
  Json line{{"kind", "step"}};
  for (size_t index = 0; index < kStepFields; ++index) {
    const auto field = static_cast<StepField>(index);
    Json& value = line[std::string(kStepFieldNames[index])];
    const bool is_mean = (needed_ & bit_of(field)) != 0 && !is_last_value(field);
    const int64_t lines = field == StepField::loss ? sums.losses : field == StepField::top1 ? sums.top1s : sums.lines;
    if (is_whole(field)) {
      value = static_cast<int64_t>((*last_)[field]);
    } else if (!is_mean) {
      const bool is_null = field == StepField::top1 && !last_->has_top1;
      value = is_null ? Json(nullptr) : Json((*last_)[field]);
    } else {
      value = lines == 0 ? Json(nullptr) : Json(sums.values[index] / static_cast<double>(lines));
    }
  }
  if (sums.images) line["images"] = static_cast<int64_t>(*sums.images);
  if (sums.lines > 1) {
    const auto known = [](bool is, double value) { return is ? Json(value) : Json(nullptr); };
    line["merged"] = {{"lines", sums.lines},
                      {"loss_min", known(sums.losses > 0, sums.loss_min)},
                      {"loss_max", known(sums.losses > 0, sums.loss_max)},
                      {"images_per_sec_min", sums.rate_min},
                      {"images_per_sec_max", sums.rate_max},
                      {"images_per_sec_over_all", known(sums.work_time > 0, sums.work / sums.work_time)}};
  }
  return line;
}

MetricsMerger::MetricsMerger(const std::string& path, int64_t rows, bool only_curves, int64_t end)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)),
      path_(path),
      reader_(only_curves ? kCurves : kAllStepFields - kLast),
      steps_(only_curves ? kCurves : kAllStepFields - kLast) {
  if (!file_ && errno == ENOENT) return;
  if (!file_) throw file_error("open", path);
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0) throw file_error("look at", path);
  if (S_ISREG(info.st_mode)) size_ = std::min<int64_t>(info.st_size, end);
  bytes_per_row_ = size_ / rows;
}

bool MetricsMerger::advance() {
  for (const int64_t end = offset_ + kShare; offset_ < size_ && offset_ < end;) read_block();
  if (offset_ < size_) return false;
  flush();
  return true;
}

void MetricsMerger::read_block() {
  const auto wanted = std::min(kBlock, static_cast<size_t>(size_ - offset_));
  if (buffer_.size() < kept_ + wanted) buffer_.resize(kept_ + kBlock);
  const ssize_t got = ::pread(file_.get(), buffer_.data() + kept_, wanted, offset_);
  if (got < 0) throw file_error("read", path_);
  offset_ += got;
  if (got == 0) size_ = offset_;  // the file was cut meanwhile
  const std::string_view text(buffer_.data(), kept_ + static_cast<size_t>(got));
  size_t begin = 0;
  for (size_t end = kept_; (end = text.find('\n', end)) != std::string_view::npos; begin = ++end) {
    read_line(text.substr(begin, end - begin));
  }
  kept_ = text.size() - begin;
  if (kept_ > kLongestLine) kept_ = 0;  // not a line of ours: its end is no JSON and is dropped
  std::memmove(buffer_.data(), text.data() + begin, kept_);
}

Json MetricsMerger::take() {
  return Json{{"size", offset_ - static_cast<int64_t>(kept_)}, {"lines", std::move(lines_)}};
}

void MetricsMerger::read_line(std::string_view text) {
  if (text.starts_with(kHostLine)) return;
  if (const auto step = reader_.read(text)) {
    if (!steps_.continues(*step)) {
      flush();
      steps_.begin_generation(std::nullopt);
    }
    steps_.add(*step, text);
    row_bytes_ += static_cast<int64_t>(text.size()) + 1;
    if (row_bytes_ >= bytes_per_row_) flush();
    return;
  }
  Json line;
  try {
    line = parse_json(text);
  } catch (const FieldError&) {
    return;  // a line that was cut off by a full disk
  }
  const auto kind = line.is_object() ? line.find("kind") : line.end();
  if (!line.is_object() || kind == line.end() || !kind->is_string()) return;
  const std::string& name = kind->get_ref<const std::string&>();
  if (std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end()) return;
  if (name == "start") {
    flush();
    steps_.begin_generation(resumed_step(line));
  }
  if (steps_.empty()) {
    lines_.push_back(std::move(line));
  } else {
    held_.push_back(std::move(line));
  }
}

void MetricsMerger::flush() {
  row_bytes_ = 0;
  if (!steps_.empty()) lines_.push_back(steps_.take());
  for (Json& line : held_) lines_.push_back(std::move(line));
  held_ = Json::array();
}

}  // namespace trainyard
