#include "trainer/base/cpu_features.h"

#include <cpuid.h>

namespace trainyard {

namespace {

bool bit(unsigned value, unsigned number) { return ((value >> number) & 1U) != 0; }

}  // namespace

// Intel SDM volume 2A, CPUID: leaf 1 ECX 19 SSE4.1, 20 SSE4.2; leaf 7 EBX 3 BMI1, 8 BMI2, 29 SHA. None of these needs
// the system's help with wider registers, so the processor's word is enough.
CpuFeatures cpu_features() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  CpuFeatures features;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return features;
  const bool sse41 = bit(c, 19);
  features.sse42 = bit(c, 20);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return features;
  features.bmi2 = bit(b, 3) && bit(b, 8);
  features.sha = sse41 && bit(b, 29);
  return features;
}

}  // namespace trainyard
