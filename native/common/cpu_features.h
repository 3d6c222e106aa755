// What this processor can do beyond plain x86-64, asked of the processor itself: the same binary
// runs on all of them.
#pragma once

namespace trainyard {

struct CpuFeatures {
  bool sse42 = false;
  bool bmi2 = false;    ///< BMI1 and BMI2
  bool sha = false;     ///< the SHA extensions and SSE4.1
  bool avx2 = false;    ///< AVX2 and FMA, and the system saves their registers
  bool avx512 = false;  ///< AVX-512 F, BW, DQ, VL, likewise
  bool avx512_bf16 = false;
};

CpuFeatures cpu_features();

}  // namespace trainyard
