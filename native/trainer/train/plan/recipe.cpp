#include "trainer/train/plan/recipe.h"

namespace trainyard {
namespace {

/// The recipe of a checkpoint, as far as it says.
nlohmann::json recipe_in(const nlohmann::json& state) {
  nlohmann::json recipe = state.value("recipe", nlohmann::json::object());
  for (const char* field : {"augment", "accumulate"}) {
    if (state.contains(field) && !recipe.contains(field)) recipe[field] = state.at(field);
  }
  const nlohmann::json schedule = state.value("schedule", nlohmann::json::object());
  for (const auto& [field, value] : schedule.items()) {
    const std::string name = field == "kind" ? "lr_schedule" : field == "base_lr" ? "lr" : field;
    if (!recipe.contains(name)) recipe[name] = value;
  }
  return recipe;
}

}  // namespace

nlohmann::json recipe_of(const TrainOptions& options, const TrainPlan& plan) {
  const OptimizerOptions& optimizer = options.optimizer;
  nlohmann::json recipe = {
      {"augment", options.augment},
      {"min_object_covered", options.min_object_covered},
      {"random_erasing", options.random_erasing},
      {"mixup", options.mixing.mixup},
      {"cutmix", options.mixing.cutmix},
      {"accumulate", options.accumulate},
      {"label_smoothing", options.label_smoothing},
      {"clip_norm", options.clip_norm},
      {"ema", options.ema},
      {"dropout", options.dropout ? nlohmann::json(*options.dropout) : nlohmann::json("the model's own")},
      {"sync_batch_norm", options.sync_batch_norm},
      {"gradient_type", options.strategy.gradient_type},
      {"weight_decay", optimizer.weight_decay},
      {"decay_norm_and_bias", optimizer.decay_norm_and_bias},
      {"lr", plan.base_lr},
      {"peak_lr", plan.schedule.peak_lr},
      {"lr_schedule", options.lr_schedule},
      {"warmup_steps", plan.schedule.warmup_steps},
      {"drops", plan.schedule.drops},
      {"total_steps", plan.total_steps}};
  if (options.ema > 0) recipe["ema_every"] = options.ema_every;
  if (!is_adam(optimizer.kind)) recipe["momentum"] = optimizer.momentum;
  if (optimizer.kind == "lars") recipe["trust_coefficient"] = optimizer.trust;
  if (is_adam(optimizer.kind)) {
    recipe["beta1"] = optimizer.beta1;
    recipe["beta2"] = optimizer.beta2;
    recipe["epsilon"] = optimizer.epsilon;
  }
  return recipe;
}

std::vector<std::string> recipe_changes(const nlohmann::json& state, const nlohmann::json& recipe) {
  const nlohmann::json before = recipe_in(state);
  const auto text = [](const nlohmann::json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  };
  std::vector<std::string> changes;
  for (const auto& [field, now] : recipe.items()) {
    const auto was = before.find(field);
    if (was == before.end() || *was == now) continue;
    changes.push_back(field + ": " + text(*was) + ", now " + text(now));
  }
  return changes;
}

}  // namespace trainyard
