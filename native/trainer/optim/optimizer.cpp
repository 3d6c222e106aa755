#include "trainer/optim/optimizer.h"

#include <array>
#include <utility>

#include "common/error.h"
#include "trainer/optim/adam.h"
#include "trainer/optim/lars.h"
#include "trainer/optim/sgd.h"

namespace trainyard {

std::span<const OptimizerInfo> known_optimizers() {
  // Adam's is Kingma and Ba's; LARS multiplies its own by a ratio near its trust coefficient.
  static const std::array<OptimizerInfo, 4> list{{{"sgd", 0.1}, {"lars", 1.0}, {"adam", 0.001}, {"adamw", 0.001}}};
  return list;
}

void fill_decay(const OptimizerOptions& options, std::vector<ParameterRange>& ranges) {
  for (ParameterRange& range : ranges) range.decay = range.adapt || options.decay_norm_and_bias;
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerOptions& options, std::vector<ParameterRange> ranges,
                                          size_t arena_size) {
  fill_decay(options, ranges);
  if (options.kind == "sgd") return std::make_unique<Sgd>(options, std::move(ranges), arena_size);
  if (options.kind == "lars") return std::make_unique<Lars>(options, std::move(ranges), arena_size);
  if (is_adam(options.kind)) return std::make_unique<Adam>(options, std::move(ranges), arena_size);
  throw Error(Exit::usage, "There is no optimizer '" + options.kind + "'. Use one of: sgd, lars, adam, adamw.");
}

}  // namespace trainyard
