// A library of NVIDIA's that not every run needs, found at run time.
#pragma once
#include <string>

#include "trainer/ops/cuda/launch.h"

namespace trainyard::cuda {

/// Fails in the trainer, as what the device lacks.
void fail_device(const Launcher& launcher, const std::string& message);

struct RuntimeLibraryName {
  const char* file;    ///< libnccl.so.2
  const char* name;    ///< NCCL
  const char* advice;  ///< behind every message: what to do without it
};

class RuntimeLibrary {
 public:
  /// Opened by its name: that is the one the trainer loaded by its path, where it found one, or the
  /// system's. Never closed. Fails where there is none.
  RuntimeLibrary(const Launcher& launcher, const RuntimeLibraryName& name);

  /// Fails where the library has no such function.
  template <class F>
  void find(F& function, const char* called) const {
    function = reinterpret_cast<F>(address(called));
  }
  /// Whether it has such a function, which is found then.
  template <class F>
  bool has(F& function, const char* called) const {
    function = reinterpret_cast<F>(looked_up(called));
    return function != nullptr;
  }

 private:
  void* looked_up(const char* called) const;
  void* address(const char* called) const;

  Launcher launcher_;
  RuntimeLibraryName name_;
  void* library_;
};

}  // namespace trainyard::cuda
