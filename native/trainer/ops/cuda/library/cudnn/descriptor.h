// cuDNN's graph API (its "backend" API of C), thinly: descriptors with an owner. The C++ frontend
// does the same with a header that takes most of a minute to compile.
#pragma once
#include <cudnn.h>

#include <array>
#include <cstdint>
#include <memory>

#include "trainer/ops/cuda/library/cudnn/handles.h"

namespace trainyard::cuda {

class Descriptor {
 public:
  Descriptor(const Launcher& launcher, cudnnBackendDescriptorType_t type) : launcher_(&launcher) {
    void* made = nullptr;
    check(launcher, cudnnBackendCreateDescriptor(type, &made), "cudnnBackendCreateDescriptor");
    descriptor_.reset(made);
  }

  cudnnBackendDescriptor_t get() const { return descriptor_.get(); }

  Descriptor& set(cudnnBackendAttributeName_t name, int64_t value) { return raw(name, CUDNN_TYPE_INT64, 1, &value); }
  template <size_t count>
  Descriptor& set(cudnnBackendAttributeName_t name, const std::array<int64_t, count>& values) {
    return raw(name, CUDNN_TYPE_INT64, count, values.data());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, float value) { return raw(name, CUDNN_TYPE_FLOAT, 1, &value); }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    void* handle = value.get();
    return raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, static_cast<const void*>(&handle));
  }
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnHandle_t value) {
    return raw(name, CUDNN_TYPE_HANDLE, 1, static_cast<const void*>(&value));
  }
  Descriptor& raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, size_t count,
                  const void* values) {
    check(*launcher_, cudnnBackendSetAttribute(get(), name, type, static_cast<int64_t>(count), values),
          "cudnnBackendSetAttribute");
    return *this;
  }

  void finalize() { check(*launcher_, cudnnBackendFinalize(get()), "cudnnBackendFinalize"); }
  /// Whether it could be: an engine may find only then that it cannot run this.
  bool try_finalize() { return cudnnBackendFinalize(get()) == CUDNN_STATUS_SUCCESS; }

  int64_t number(cudnnBackendAttributeName_t name) const {
    int64_t value = 0;
    int64_t count = 0;
    check(*launcher_, cudnnBackendGetAttribute(get(), name, CUDNN_TYPE_INT64, 1, &count, &value),
          "cudnnBackendGetAttribute");
    return value;
  }

 private:
  const Launcher* launcher_;
  std::unique_ptr<void, FreeBy<cudnnBackendDestroyDescriptor>> descriptor_;
};

}  // namespace trainyard::cuda
