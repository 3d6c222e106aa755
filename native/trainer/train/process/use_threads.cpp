#include "trainer/train/process/use_threads.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "trainer/base/parallel.h"

namespace trainyard {

void use_threads(int threads) {
  if (const auto text = set_threads(threads).text()) std::fprintf(stderr, "trainer: warning: %s\n", text->c_str());
}

int threads_for_rank(int wanted, const Communicator& communicator) {
  if (wanted > 0) return wanted;
  const char* given = std::getenv("OMP_NUM_THREADS");
  const long threads = given != nullptr ? std::strtol(given, nullptr, 10) : 0;
  if (threads > 0) return static_cast<int>(threads);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, cores / communicator.local_world());
}

int decoding_threads(int wanted, const std::string& device, int threads) {
  if (wanted > 0) return wanted;
  return device == "cuda" ? threads : 1;
}

}  // namespace trainyard
