#include "trainer/layers/planner.h"

#include "common/error.h"

namespace trainyard {

Planner::Planner(Backend& backend, int values)
    : backend_(backend),
      descs_(static_cast<size_t>(values)),
      activations_(static_cast<size_t>(values)),
      channel_sums_(static_cast<size_t>(values)),
      end_sums_(static_cast<size_t>(values)),
      masked_norms_(static_cast<size_t>(values)),
      mergers_(static_cast<size_t>(values), nullptr),
      gradients_(static_cast<size_t>(values)),
      wants_gradient_(static_cast<size_t>(values), false),
      taken_over_(static_cast<size_t>(values), false) {}

Slot Planner::make_activation(ValueId value) {
  const Slot slot = keep(desc(value).bytes());
  activations_[static_cast<size_t>(value)] = slot;
  return slot;
}

void Planner::alias_activation(ValueId value, ValueId same) {
  activations_[static_cast<size_t>(value)] = activation(same);
}

Slot Planner::activation(ValueId value) {
  const Slot slot = activations_[static_cast<size_t>(value)];
  touch(slot);
  return slot;
}

Slot Planner::make_channel_sums(ValueId value, unsigned rows) {
  const auto channels = static_cast<size_t>(desc(value).shape.c);
  const Slot slot = keep(2 * rows * channels * sizeof(float));
  channel_sums_[static_cast<size_t>(value)] = {slot, rows};
  return slot;
}

Planner::PlannedSums Planner::channel_sums(ValueId value) { return touched(channel_sums_[static_cast<size_t>(value)]); }

std::optional<Planner::PlannedEnd> Planner::take_end(ValueId value,
                                                     const std::function<unsigned(GradientEndKind)>& rows) {
  const auto at = static_cast<size_t>(value);
  const MaskedNorms& norms = masked_norms_[at];
  const size_t added = norms.kind == GradientEndKind::inner ? 0 : 1;
  if (!norms.mask || gradients_[at].size() != added) return std::nullopt;
  const unsigned sums_rows = rows(norms.kind);
  if (sums_rows == 0) return std::nullopt;
  PlannedEnd end{.norms = norms, .x = {}, .gradient = {}, .sums = {}};
  end.gradient = added > 0 ? gradients_[at].front() : keep(desc(value).bytes());
  gradients_[at].clear();
  touch(norms.saved);
  for (const ValueId x : norms.x) end.x.push_back(activation(x));
  const auto channels = static_cast<size_t>(desc(value).shape.c);
  end.sums = keep((1 + norms.x.size()) * sums_rows * channels * sizeof(float));
  end_sums_[at] = {end.sums, sums_rows};
  return end;
}

Planner::PlannedSums Planner::end_sums(ValueId value) { return touched(end_sums_[static_cast<size_t>(value)]); }

Planner::PlannedSums Planner::touched(const PlannedSums& sums) {
  if (sums.rows > 0) touch(sums.slot);
  return sums;
}

Slot Planner::keep(size_t bytes) { return {plan_.add(bytes, time_), false}; }

std::optional<Slot> Planner::pack(const PackedWeights& weights) {
  if (!backend_.packs_at_once()) return std::nullopt;
  packs_.emplace_back(weights, persistent(weights.bytes()));
  return packs_.back().second;
}

Slot Planner::persistent(size_t bytes) {
  persistent_.push_back(bytes);
  return {static_cast<int>(persistent_.size()) - 1, true};
}

void Planner::give_gradient(ValueId value, Slot gradient) {
  touch(gradient);
  gradients_[static_cast<size_t>(value)].push_back(gradient);
}

std::vector<Slot> Planner::take_gradients(ValueId value, size_t most) {
  std::vector<Slot> slots = gradients_[static_cast<size_t>(value)];
  if (slots.empty()) {
    throw Error(Exit::internal, "Value " + std::to_string(value) + " of the model's graph leads nowhere. Report it.");
  }
  for (const Slot slot : slots) touch(slot);
  if (slots.size() > most) {
    const std::shared_ptr<AddOp> op = backend_.make_add(desc(value));
    for (size_t i = most; i < slots.size(); ++i) additions_.push_back({time_, op, slots[0], slots[i]});
    slots.resize(most);
  }
  return slots;
}

}  // namespace trainyard
