#include "trainer/train/process/use_threads.h"

#include <cstdio>

#include "trainer/base/parallel.h"

namespace trainyard {

void use_threads(int threads) {
  if (const auto text = set_threads(threads).text()) std::fprintf(stderr, "trainer: warning: %s\n", text->c_str());
}

}  // namespace trainyard
