// One `step` line of metrics.jsonl (docs/contracts/metrics.md), read without building a document:
// a long run has a hundred thousand of them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// The numbers of a step line that every such line has. `loss` and `top1` may be null.
enum class StepField : uint8_t {
  time,
  generation,
  step,
  epoch,
  loss,
  top1,
  lr,
  images_per_sec,
  step_ms,
  comm_ms,
  input_wait_ms,
  world,
};
inline constexpr size_t kStepFields = 12;
inline constexpr std::array<std::string_view, kStepFields> kStepFieldNames{
    "time", "generation",     "step",    "epoch",   "loss",          "top1",
    "lr",   "images_per_sec", "step_ms", "comm_ms", "input_wait_ms", "world"};

constexpr uint32_t bit_of(StepField field) { return 1U << static_cast<size_t>(field); }
inline constexpr uint32_t kAllStepFields = (1U << kStepFields) - 1;

struct StepLine {
  std::array<double, kStepFields> values{};
  bool has_loss = false, has_top1 = false;  ///< false: the line says null
  std::optional<double> images;             ///< of this line's steps; most lines leave it out

  double operator[](StepField field) const { return values[static_cast<size_t>(field)]; }
};

/// Reads the step lines of one file. They have their fields in one order, so that a line is first
/// compared with the line before: what stands between the values is the same.
class StepLineReader {
 public:
  /// `needed`: a bit for each StepField. The others are passed over where a line is like the line
  /// before, so their values may be 0.
  explicit StepLineReader(uint32_t needed = kAllStepFields) : needed_(needed) {}
  /// The line as a step line, or nothing: for another kind, for a torn line, and for one that lacks
  /// a number. Fields that StepLine does not name are passed over, whatever they hold.
  std::optional<StepLine> read(std::string_view line);

 private:
  /// The text before a value, and what the value is: a StepField, kImages or kPassedOver.
  struct Piece {
    std::string before;
    size_t value;
  };

  bool read_alike(std::string_view line, StepLine& step) const;
  std::optional<StepLine> read_any(std::string_view line);

  uint32_t needed_;
  std::vector<Piece> pieces_;  ///< of the last line that read_any read; none before
  std::string end_;            ///< what follows its last value
};

}  // namespace trainyard
