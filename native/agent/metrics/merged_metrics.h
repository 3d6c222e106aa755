// metrics.jsonl in an answer of bounded size: neighbouring step lines become one.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "agent/messages/json.h"
#include "agent/metrics/step_line.h"
#include "common/files.h"

namespace trainyard {

/// Step lines of one generation that follow one another, as one line. Means are over the lines; of
/// loss and top1, over the lines that have one.
class MergedSteps {
 public:
  /// `needed`: the fields that lines bring, as of StepLineReader.
  explicit MergedSteps(uint32_t needed) : needed_(needed) {}
  bool empty() const { return sums_.lines == 0; }
  /// A generation begins after that step; nothing where the step is unknown.
  void begin_generation(std::optional<double> after);
  /// Whether the line goes on from the last one: the same generation, and a later step.
  bool continues(const StepLine& line) const;
  /// `text` is the line's.
  void add(const StepLine& line, std::string_view text);
  /// The `step` line of metrics.jsonl that stands for all of them, with `merged` where there are
  /// several (docs/contracts/rpc.md). Empties this. Figures that `needed` lacks are those of the
  /// last line.
  Json take();

 private:
  struct Sums {
    int64_t lines = 0, losses = 0, top1s = 0;
    std::array<double, kStepFields> values{};
    double loss_min = 0, loss_max = 0, rate_min = 0, rate_max = 0;
    std::optional<double> images;
    double work = 0;       ///< images, or steps where the lines name no images
    double work_time = 0;  ///< the sum of work / rate
  };

  Sums sums_;
  uint32_t needed_;
  std::optional<StepLine> last_;  ///< of this generation
  std::string last_text_;         ///< of the last line
  std::optional<double> before_;  ///< the step that the generation had made before the next line
};

/// Reads one metrics.jsonl in shares, so that a server does other work meanwhile.
class MetricsMerger {
 public:
  /// At most about `rows` step lines will be left, and one more for each generation. Throws
  /// file_error; a file that is missing has no lines. With `only_curves` loss and images/s alone
  /// are means. Lines that end behind `end` bytes are not read.
  MetricsMerger(const std::string& path, int64_t rows, bool only_curves = false, int64_t end = INT64_MAX);
  /// Reads 4 MiB more at most. True when the file has been read to the size that it had at the
  /// beginning.
  bool advance();
  /// `{size, lines}`: the bytes of the lines that were read, and the lines as objects, in the order
  /// of the file. A line without an end is not read.
  Json take();

 private:
  /// Reads a block more, and the lines that end in it.
  void read_block();
  void read_line(std::string_view line);
  void flush();

  Descriptor file_;
  std::string path_;
  int64_t size_ = 0, offset_ = 0;
  int64_t bytes_per_row_ = 0, row_bytes_ = 0;
  std::string buffer_;
  size_t kept_ = 0;  ///< bytes of the line that is not whole yet, at the beginning of buffer_
  StepLineReader reader_;
  MergedSteps steps_;
  Json held_ = Json::array();  ///< lines of other kinds since the first step of the row
  Json lines_ = Json::array();
};

}  // namespace trainyard
