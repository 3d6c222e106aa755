// Whether this machine can run what was compiled.
#pragma once

namespace trainyard {

/// AVX2 and FMA, in the processor and saved by the operating system. Our arithmetic is compiled for
/// both.
bool processor_has_avx2();

}  // namespace trainyard
