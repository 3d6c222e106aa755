// The seam between the ops and the device's compiler. No type of the standard library crosses it:
// the kernels are compiled against another one.
#pragma once
#include <stddef.h>

struct CUstream_st;  // what the driver calls a stream

namespace trainyard::cuda {

/// Where kernels go, and how an error leaves the library: `fail` throws the trainer's Error in the
/// trainer itself, whose catch would not know an exception thrown here.
struct Launcher {
  CUstream_st* stream;
  /// `worth_retrying`: whether the same program, started again, may fare better.
  void (*fail)(int exit_code, const char* message, bool worth_retrying);
};

/// Kernels count with 32 bits, because divisions of 64 bit indices take longer than the memory they
/// wait for.
inline constexpr size_t kMostElements = size_t{1} << 31U;

/// Calls f(0) … f(count - 1) on the device, in no order. Instantiated for the arithmetic under
/// math/ by kernels/*.cu; the tests instantiate it as a loop on the host.
template <class F>
void each(const Launcher& launcher, size_t count, const F& f);

}  // namespace trainyard::cuda
