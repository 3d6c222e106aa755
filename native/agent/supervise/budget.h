// What a run may cost: a warning at a share of it, and a stop after a checkpoint where that was
// asked for. docs/contracts/profiles.md (price) says what a run costs. And how long it may take.
#pragma once
#include <optional>
#include <string>

#include "agent/run/folder/run_spec.h"
#include "agent/run/journal.h"
#include "agent/run/stop_watch.h"

namespace trainyard {

/// Of a run without a budget, `amount` is 0 and nothing happens for its cost; so it is with the
/// time limit (RunSpec::time_limit).
class Budget {
 public:
  Budget() = default;
  /// `json`: run.json, of which `spec` was read. Throws FieldError naming the field.
  Budget(const Json& json, const RunSpec& spec);

  /// What the run has cost at `now`, when this start of it began at `started` (seconds of a clock
  /// that nobody sets). Its earlier starts count, each at its own price. One in another currency
  /// counts nothing.
  double cost(double started, double now) const;

  /// Journals once that the share for a warning, and once that the whole is spent. A request where
  /// the run is to stop for that, or since its time is over, once too.
  std::optional<StopRequest> look(double started, double now, Journal& journal);

  /// Why a run stopped, where its budget or its time limit asked for that.
  std::optional<std::string> why(const StopRequest& request) const;

 private:
  std::optional<StopRequest> look_at_cost(double started, double now, Journal& journal);
  std::string name() const;        ///< `its budget of 2.00 EUR`
  std::string limit_name() const;  ///< `its time limit of 30 min`

  double amount_ = 0, warn_at_ = 0;
  double per_hour_ = 0;  ///< of all that the run holds
  double spent_ = 0;     ///< in earlier starts
  bool stops_ = false, warned_ = false, over_ = false;
  double time_limit_ = 0;  ///< seconds
  bool late_ = false;
  std::string currency_;
};

}  // namespace trainyard
