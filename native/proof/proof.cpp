// What scripts/gpu/proof.py and scripts/bench/gpu.py run on a machine with a GPU: proof PART DEVICE
// [ARGUMENT…].
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/error.h"
#include "proof/parts.h"

namespace trainyard::proof {
namespace {

int run(const std::string& part, const std::string& device, const std::vector<std::string>& arguments) {
  const std::map<std::string, std::function<bool()>> parts = {
      {"devices", [&] { return devices(device); }},
      {"ops", [&] { return ops(device); }},
      {"collectives", [&] { return collectives(device); }},
      {"jpeg-decoder", [&] { return jpeg_decoder(device); }},
      {"networks", [&] { return networks(device); }},
      {"precisions", [&] { return precisions(device); }},
      {"optimizers", [&] { return optimizers(device); }},
      {"averages", [&] { return averages(device); }},
      {"repeats", [&] { return repeats(device); }},
      {"recorded", [&] { return recorded(device); }},
      {"resume", [&] { return resume(device); }},
      {"evaluation", [&] { return evaluation(device); }},
      {"two-processes", [&] { return two_processes(device); }},
      {"out-of-memory", [&] { return out_of_memory(device); }},
      {"batch-that-fits", [&] { return batch_that_fits(device); }},
      {"memory-growth", [&] { return memory_growth(device); }},
      {"speed", [&] { return speed(device); }},
      {"kernels", [&] { return kernels(device, arguments); }},
      {"steps", [&] { return steps(device, arguments); }},
      {"bench", [&] { return bench(device, arguments); }},
  };
  const auto found = parts.find(part);
  if (found == parts.end()) throw Error(Exit::usage, "no part " + part);
  return found->second() ? 0 : 1;
}

}  // namespace
}  // namespace trainyard::proof

int main(int argc, char** argv) {
  // A part that is stopped has said what it found until then.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // Set where the script itself starts this program: it shall not outlive the script.
  if (std::getenv("TRAINYARD_PROOF_TIED") != nullptr) prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    if (words.size() < 2 || (words[1] != "cuda" && words[1] != "cpu")) {
      throw trainyard::Error(trainyard::Exit::usage, "usage: proof PART cuda|cpu [ARGUMENT…]");
    }
    return trainyard::proof::run(words[0], words[1], {words.begin() + 2, words.end()});
  } catch (const std::exception& error) {
    std::printf("error\t%s\n", error.what());
    return 1;
  }
}
