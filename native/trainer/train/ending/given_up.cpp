#include "trainer/train/ending/given_up.h"

#include <unistd.h>

#include <cstdlib>

#include "common/given_up.h"
#include "common/stopwatch.h"
#include "trainer/train/process/generation.h"

namespace trainyard {
namespace {

constexpr double look_every_ms = 100;

}  // namespace

GivenUp ask_supervisor(const std::string& run_dir) {
  if (std::getenv("TRAINYARD_GENERATION") == nullptr) return {};  // nobody supervises
  return [path = given_up_file(run_dir, generation_from_environment()), clock = Stopwatch()]() mutable {
    if (clock.milliseconds() < look_every_ms) return false;
    clock = Stopwatch();
    return ::access(path.c_str(), F_OK) == 0;
  };
}

}  // namespace trainyard
