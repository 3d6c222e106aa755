// What the ops that use oneDNN share: descriptors, and primitives whose arguments are bound once.
#pragma once
#include <optional>
#include <unordered_map>

#include "oneapi/dnnl/dnnl.hpp"
#include "trainer/tensor/tensor_desc.h"

namespace trainyard::cpu {

dnnl::memory::data_type type_of(DType dtype);
dnnl::memory::dims dims_of(const Shape& shape);
dnnl::memory::desc memory_desc(const TensorDesc& tensor);
dnnl::memory::desc any_layout(const Shape& shape, DType dtype);
/// The layout of `desc`, if it is one of ours.
std::optional<Layout> layout_of(const dnnl::memory::desc& desc, const Shape& shape, DType dtype);

/// Whether the processor has these instructions, and oneDNN may use them.
bool has_isa(dnnl_cpu_isa_t isa);

/// Scratch memory from the caller instead of oneDNN's own allocations.
dnnl::primitive_attr user_scratch();

/// oneDNN's interface takes what it only reads through pointers to non-const.
inline void* readable(const void* data) {
  return const_cast<void*>(data);
}  // NOLINT(cppcoreguidelines-pro-type-const-cast)

/// A primitive with its argument map, made once, so that a step allocates nothing.
class BoundPrimitive {
 public:
  BoundPrimitive() = default;
  BoundPrimitive(const dnnl::engine& engine, dnnl::primitive primitive,
                 const std::vector<std::pair<int, dnnl::memory::desc>>& arguments);
  /// Points an argument at memory. An argument of no bytes may point nowhere.
  void set(int argument, const void* data);
  void run(dnnl::stream& stream);

 private:
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace trainyard::cpu
