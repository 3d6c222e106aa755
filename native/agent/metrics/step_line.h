// One `step` line of metrics.jsonl (docs/contracts/metrics.md), read without building a document:
// a long run has a hundred thousand of them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

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

struct StepLine {
  std::array<double, kStepFields> values{};
  bool has_loss = false, has_top1 = false;  ///< false: the line says null
  std::optional<double> images;             ///< of this line's steps; most lines leave it out

  double operator[](StepField field) const { return values[static_cast<size_t>(field)]; }
};

/// The line as a step line, or nothing: for another kind, for a torn line, and for one that lacks a
/// number. Fields that StepLine does not name are passed over, whatever they hold.
std::optional<StepLine> read_step_line(std::string_view line);

}  // namespace trainyard
