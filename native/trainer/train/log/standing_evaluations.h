// Which evaluations of a run still stand after restarts.
#pragma once
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

/// Reads the lines of one metrics.jsonl by the rule of src/core/model/generations.ts: a `start`
/// line supersedes what older generations wrote of steps after its `resumed_from`, late lines
/// included. Where a disk took no start line, the generation's first `checkpoint` line stands for
/// it. `step` lines are not read: they cannot change which evaluations stand where start lines are
/// written.
///
/// Of the evaluations that `trainer eval --once` wrote, those alone count whose images are the
/// run's own: `src/core/model/countedEvaluations.ts` is that rule.
class StandingEvaluations {
 public:
  /// `own`: the images on which the run is evaluated, as they were named; empty where nobody knows.
  explicit StandingEvaluations(std::string own = "") : own_(std::move(own)) {}

  /// A line without its newline, in the order of the file. Any other line than a whole `start`,
  /// `checkpoint` or `eval` line is passed over.
  void read(const std::string& line);

  /// top-1 accuracy (0 to 1) by step, of the evaluations that stand and count.
  const std::map<int64_t, double>& top1() const { return top1_; }

  /// Their loss by step; infinite where it is null or missing.
  const std::map<int64_t, double>& loss() const { return loss_; }

 private:
  /// A newer generation superseded what older ones wrote of steps greater than `after`.
  struct Cut {
    int64_t generation;
    int64_t after;
  };
  void begin(int64_t generation, int64_t after);
  bool is_superseded(int64_t generation, int64_t step) const;
  void read_checkpoint(const nlohmann::json& line);
  void read_evaluation(const nlohmann::json& line);
  bool is_of_own_data(const nlohmann::json& line);

  std::string own_;        ///< the images that count
  int64_t newest_ = -1;    ///< generation
  std::vector<Cut> cuts_;  ///< generation and `after` both rising
  std::map<int64_t, double> top1_;
  std::map<int64_t, double> loss_;
  std::map<int64_t, double> written_;  ///< of standing checkpoints: seconds since the epoch, by step
};

}  // namespace trainyard
