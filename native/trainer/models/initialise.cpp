#include "trainer/models/initialise.h"

#include "trainer/base/name_key.h"
#include "trainer/base/random.h"

namespace trainyard {

void initialise(const std::vector<Parameter>& parameters, uint64_t seed, std::span<float> arena) {
  for (const Parameter& parameter : parameters) {
    Random random{seed, name_key(parameter.name)};
    for (float& value : arena.subspan(parameter.offset, parameter.size)) {
      switch (parameter.init) {
        case Init::zeros:
          value = 0;
          break;
        case Init::ones:
          value = 1;
          break;
        case Init::normal:
          value = static_cast<float>(random.normal() * parameter.spread);
          break;
        case Init::uniform:
          value = static_cast<float>(random.uniform(-parameter.spread, parameter.spread));
          break;
      }
    }
  }
}

}  // namespace trainyard
