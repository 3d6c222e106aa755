#include "trainer/models/processor.h"

#include <cpuid.h>

namespace trainyard {

// Intel SDM volume 1, 14.7.1: CPUID leaf 1 ECX 12 FMA, 27 OSXSAVE, 28 AVX; XCR0 bits 1 and 2; leaf
// 7 EBX 5 AVX2.
bool processor_has_avx2() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kNeeded = (1U << 12) | (1U << 27) | (1U << 28);
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kNeeded) != kNeeded) return false;
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6U) != 6U) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1U << 5)) != 0;
}

}  // namespace trainyard
