#include "trainer/ops/cpu/dnnl_support.h"

#include <utility>

namespace trainyard::cpu {

namespace {

dnnl::memory::format_tag tag_of(Layout layout) {
  switch (layout) {
    case Layout::nchw:
      return dnnl::memory::format_tag::nchw;
    case Layout::nhwc:
      return dnnl::memory::format_tag::nhwc;
    case Layout::nchw8c:
      return dnnl::memory::format_tag::nChw8c;
    case Layout::nchw16c:
      return dnnl::memory::format_tag::nChw16c;
  }
  return dnnl::memory::format_tag::undef;
}

}  // namespace

dnnl::memory::data_type type_of(DType dtype) {
  return dtype == DType::f32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

dnnl::memory::dims dims_of(const Shape& shape) { return {shape.n, shape.c, shape.h, shape.w}; }

dnnl::memory::desc memory_desc(const TensorDesc& tensor) {
  return {dims_of(tensor.shape), type_of(tensor.dtype), tag_of(tensor.layout)};
}

dnnl::memory::desc any_layout(const Shape& shape, DType dtype) {
  return {dims_of(shape), type_of(dtype), dnnl::memory::format_tag::any};
}

std::optional<Layout> layout_of(const dnnl::memory::desc& desc, const Shape& shape, DType dtype) {
  for (const Layout layout : {Layout::nchw16c, Layout::nchw8c, Layout::nhwc, Layout::nchw}) {
    if (desc == memory_desc({shape, layout, dtype})) return layout;
  }
  return std::nullopt;
}

bool has_isa(dnnl_cpu_isa_t isa) { return (dnnl_get_effective_cpu_isa() & isa) == isa; }

dnnl::primitive_attr user_scratch() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

BoundPrimitive::BoundPrimitive(const dnnl::engine& engine, dnnl::primitive primitive,
                               const std::vector<std::pair<int, dnnl::memory::desc>>& arguments)
    : primitive_(std::move(primitive)) {
  for (const auto& [argument, desc] : arguments)
    arguments_.emplace(argument, dnnl::memory(desc, engine, DNNL_MEMORY_NONE));
}

void BoundPrimitive::set(int argument, const void* data) { arguments_.at(argument).set_data_handle(readable(data)); }

void BoundPrimitive::run(dnnl::stream& stream) { primitive_.execute(stream, arguments_); }

}  // namespace trainyard::cpu
