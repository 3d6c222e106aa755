#include "trainer/models/initialise.h"

#include "trainer/base/random.h"

namespace trainyard {

namespace {

/// FNV-1a (Fowler, Noll, Vo), to turn a name into a key.
uint64_t key_of(const std::string& name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace

void initialise(const std::vector<Parameter>& parameters, uint64_t seed, std::span<float> arena) {
  for (const Parameter& parameter : parameters) {
    Random random{seed, key_of(parameter.name)};
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
