#include "trainer/ops/cuda/library/loaded/runtime_library.h"

#include <dlfcn.h>

#include "common/error.h"

namespace trainyard::cuda {

void fail_device(const Launcher& launcher, const std::string& message) {
  launcher.fail(static_cast<int>(Exit::device), message.c_str(), false);
}

RuntimeLibrary::RuntimeLibrary(const Launcher& launcher, const RuntimeLibraryName& name)
    : launcher_(launcher), name_(name), library_(::dlopen(name.file, RTLD_NOW | RTLD_LOCAL)) {
  if (library_ == nullptr) {
    fail_device(launcher_, std::string(name_.name) + " cannot be loaded: " + ::dlerror() + name_.advice);
  }
}

void* RuntimeLibrary::looked_up(const char* called) const { return ::dlsym(library_, called); }

void* RuntimeLibrary::address(const char* called) const {
  void* found = looked_up(called);
  if (found == nullptr) fail_device(launcher_, std::string(name_.file) + " has no " + called + name_.advice);
  return found;
}

}  // namespace trainyard::cuda
