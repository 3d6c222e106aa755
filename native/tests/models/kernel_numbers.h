// What tests of the CUDA back end's kernels share: the shapes that models have, and numbers in the
// memory of a back end whose kernels are played on the host.
#pragma once
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/ops/host/host_cuda.h"
#include "trainer/layers/graph.h"
#include "trainer/models/builders.h"
#include "trainer/models/network.h"

namespace trainyard::test {

/// (rows or images, height, width, channels) of the inputs of all layers whose op begins so.
inline std::set<std::tuple<int, int, int>> shapes_of(const std::string& op) {
  std::set<std::tuple<int, int, int>> shapes;
  for (const ModelInfo& model : known_models()) {
    const auto graph = build_model(std::string(model.name), model.image_size, 1000);
    for (const auto& layer : graph->layers()) {
      if (layer->op().rfind(op, 0) != 0) continue;
      const Shape shape = graph->shape(layer->inputs()[0]);
      shapes.emplace(shape.h, shape.w, shape.c);
    }
  }
  return shapes;
}

/// Memory of a back end, and numbers in it that look random.
class Numbers {
 public:
  explicit Numbers(HostKernels kernels) : backend_(make_host_cuda_with(kernels)) {}
  Backend& backend() { return *backend_; }

  void* bytes(size_t count) {
    memory_.push_back(backend_->allocate(count + 64));
    auto* data = memory_.back()->data();
    for (size_t i = 0; i < count; ++i) data[i] = std::byte{0xFF};  // not a number, in any type
    return data;
  }
  /// Between -2 and 2 around `mean`: steps of 1/64, which every type holds.
  template <class T>
  T* random(size_t count, uint32_t seed, float mean = 0) {
    auto* data = static_cast<T*>(bytes(count * sizeof(T)));
    uint32_t state = seed * 2654435761U + 1;
    for (size_t i = 0; i < count; ++i) {
      state = state * 1664525U + 1013904223U;
      data[i] = static_cast<T>(mean + static_cast<float>(static_cast<int>(state >> 24U) - 128) / 64.0F);
    }
    return data;
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::vector<std::unique_ptr<BackendMemory>> memory_;
};

template <class T>
std::vector<float> wide(const T* from, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(from[i]);
  return values;
}

template <class T>
inline constexpr DType kStored = std::is_same_v<T, float>      ? DType::f32
                                 : std::is_same_v<T, BFloat16> ? DType::bf16
                                                               : DType::f16;

/// The largest distance, beside the largest number.
inline double apart(const std::vector<float>& got, const std::vector<float>& want) {
  double most = 0;
  double largest = 1e-30;
  for (size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(got[i])) return INFINITY;
    most = std::max(most, std::abs(double{got[i]} - double{want[i]}));
    largest = std::max(largest, std::abs(double{want[i]}));
  }
  return got.size() == want.size() ? most / largest : INFINITY;
}

}  // namespace trainyard::test
