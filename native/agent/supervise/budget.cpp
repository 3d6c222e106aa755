#include "agent/supervise/budget.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trainyard {

namespace {

constexpr double kMostMoney = 1e15;
constexpr double kSecondsPerHour = 3600;

double units_of(const RunSpec& spec, const std::string& per) {
  if (per == "node") return spec.nodes.empty() ? 1 : static_cast<double>(count_with_ranks(spec.nodes));
  if (per != "gpu") throw FieldError("spec.price.per must be 'node' or 'gpu'");
  size_t gpus = spec.nodes.empty() ? spec.gpus.size() : 0;
  for (const NodeSpec& node : spec.nodes) gpus += node.gpus.size();
  return static_cast<double>(gpus);
}

double cost_of_earlier(const Json* spans, const std::string& currency) {
  if (spans == nullptr || !spans->is_array()) return 0;
  double sum = 0;
  for (const Json& one : *spans) {
    const Fields span(one, "spec.earlier");
    if (span.optional_string("currency").value_or("") != currency) continue;
    const double from = span.number_or("from", 0, 0, HUGE_VAL), to = span.number_or("to", 0, 0, HUGE_VAL);
    sum += span.number_or("perHour", 0, 0, kMostMoney) * std::max(0.0, to - from) / kSecondsPerHour;
  }
  return sum;
}

}  // namespace

Budget::Budget(const Json& json, const RunSpec& spec) : time_limit_(spec.time_limit) {
  const Fields fields(json, "spec");
  const Json* given = fields.find("budget");
  if (given == nullptr) return;
  const Fields budget(*given, "spec.budget");
  const Json* priced = fields.find("price");
  if (priced == nullptr) throw FieldError("spec.budget needs spec.price");
  const Fields price(*priced, "spec.price");
  amount_ = budget.number_or("amount", 0, 0, kMostMoney);
  warn_at_ = budget.number_or("warnAt", 0.8, 0, 1);
  stops_ = budget.boolean_or("stop", false);
  currency_ = price.string("currency");
  per_hour_ = price.number_or("amount", 0, 0, kMostMoney) * units_of(spec, price.string("per"));
  spent_ = cost_of_earlier(fields.find("earlier"), currency_);
}

double Budget::cost(double started, double now) const {
  return spent_ + per_hour_ * std::max(0.0, now - started) / kSecondsPerHour;
}

std::optional<StopRequest> Budget::look(double started, double now, Journal& journal) {
  if (auto stop = look_at_cost(started, now, journal)) return stop;
  if (time_limit_ == 0 || late_ || now - started < time_limit_) return std::nullopt;
  late_ = true;
  return StopRequest{StopRequest::Mode::checkpoint, limit_name()};
}

std::optional<StopRequest> Budget::look_at_cost(double started, double now, Journal& journal) {
  if (amount_ == 0 || over_) return std::nullopt;
  const double cost = this->cost(started, now);
  const Json fields = {{"cost", cost}, {"amount", amount_}, {"currency", currency_}, {"stops", stops_}};
  over_ = cost >= amount_;
  if (over_) {
    journal.event("budget_spent", fields);
    if (stops_) return StopRequest{StopRequest::Mode::checkpoint, name()};
    return std::nullopt;
  }
  if (!warned_ && cost >= warn_at_ * amount_) {
    warned_ = true;
    journal.event("budget_low", fields);
  }
  return std::nullopt;
}

std::optional<std::string> Budget::why(const StopRequest& request) const {
  if (amount_ != 0 && request.by == name()) return name() + " is spent";
  if (time_limit_ != 0 && request.by == limit_name()) return limit_name() + " is over";
  return std::nullopt;
}

std::string Budget::limit_name() const {
  struct Unit {
    double seconds;
    const char* name;
  };
  Unit unit{1, "s"};
  for (const Unit& larger : {Unit{60, "min"}, Unit{kSecondsPerHour, "h"}}) {
    if (std::fmod(time_limit_, larger.seconds) == 0) unit = larger;
  }
  char text[64];
  std::snprintf(text, sizeof text, "its time limit of %g %s", time_limit_ / unit.seconds, unit.name);
  return text;
}

std::string Budget::name() const {
  char text[64];
  std::snprintf(text, sizeof text, amount_ < 0.005 ? "%.1g" : "%.2f", amount_);
  return std::string("its budget of ") + text + " " + currency_;
}

}  // namespace trainyard
