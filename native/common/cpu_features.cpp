#include "common/cpu_features.h"

#include <cpuid.h>

namespace trainyard {

namespace {

bool bit(unsigned value, unsigned number) { return ((value >> number) & 1U) != 0; }

/// XCR0: which register states the system saves (Intel SDM volume 1, section 13.3).
unsigned saved_state() {
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0U));
  return low;
}

}  // namespace

// Intel SDM volume 2A, CPUID: leaf 1 ECX 19 SSE4.1, 20 SSE4.2; leaf 7 EBX 3 BMI1, 8 BMI2, 29 SHA:
// none of these needs the system's help with wider registers, so the processor's word is enough.
// For AVX2 (leaf 1 ECX 12 FMA, 27 OSXSAVE; leaf 7 EBX 5) and AVX-512 (leaf 7 EBX 16 F, 17 DQ, 30
// BW, 31 VL; sub-leaf 1 EAX 5 BF16) the system must save them too.
CpuFeatures cpu_features() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  CpuFeatures features;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return features;
  const bool sse41 = bit(c, 19);
  const bool fma = bit(c, 12);
  const unsigned saved = bit(c, 27) ? saved_state() : 0;
  features.sse42 = bit(c, 20);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return features;
  features.bmi2 = bit(b, 3) && bit(b, 8);
  features.sha = sse41 && bit(b, 29);
  features.avx2 = fma && bit(b, 5) && (saved & 0x6U) == 0x6U;
  features.avx512 = bit(b, 16) && bit(b, 17) && bit(b, 30) && bit(b, 31) && (saved & 0xe6U) == 0xe6U;
  if (__get_cpuid_count(7, 1, &a, &b, &c, &d) != 0) features.avx512_bf16 = features.avx512 && bit(a, 5);
  return features;
}

}  // namespace trainyard
