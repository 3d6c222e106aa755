#include "trainer/tfevents/event_messages.h"

#include <protozero/pbf_writer.hpp>

namespace trainyard {

namespace {

using protozero::pbf_writer;

enum Event : protozero::pbf_tag_type { wall_time_tag = 1, step_tag = 2, file_version = 3, graph_def = 4, summary = 5 };
enum Value : protozero::pbf_tag_type { value_tag = 1, simple_value = 2, tensor = 8, metadata = 9 };
enum Tensor : protozero::pbf_tag_type { dtype = 1, tensor_shape = 2, string_val = 8 };
enum Node : protozero::pbf_tag_type { node_name = 1, node_op = 2, node_input = 3, node_attr = 5 };
constexpr protozero::pbf_tag_type summary_value = 1;
constexpr protozero::pbf_tag_type metadata_plugin_data = 1;
constexpr protozero::pbf_tag_type plugin_data_name = 1;
constexpr protozero::pbf_tag_type metadata_data_class = 4;
constexpr protozero::pbf_tag_type shape_dim = 2;
constexpr protozero::pbf_tag_type dim_size = 1;
constexpr protozero::pbf_tag_type graph_node = 1;
constexpr protozero::pbf_tag_type graph_versions = 4;
constexpr protozero::pbf_tag_type versions_producer = 1;
constexpr protozero::pbf_tag_type map_key = 1;
constexpr protozero::pbf_tag_type map_value = 2;
constexpr protozero::pbf_tag_type attr_list = 1;
constexpr protozero::pbf_tag_type list_shape = 7;
constexpr int32_t string_dtype = 7;       // DT_STRING
constexpr int32_t tensor_data_class = 2;  // DATA_CLASS_TENSOR
constexpr int32_t graph_producer = 22;    // a version of GraphDef that every TensorBoard in use reads

// An event of one summary value, which `fill` completes.
template <typename Fill>
std::string summary_event(const std::string& tag, int64_t step, double wall_time, Fill&& fill) {
  std::string bytes;
  pbf_writer event(bytes);
  event.add_double(wall_time_tag, wall_time);
  event.add_int64(step_tag, step);
  pbf_writer values(event, summary);
  pbf_writer value(values, summary_value);
  value.add_string(value_tag, tag);
  fill(value);
  return bytes;
}

void add_shape(pbf_writer& parent, protozero::pbf_tag_type tag, std::span<const int64_t> extents) {
  if (extents.empty()) return parent.add_message(tag, "", 0);  // a scalar; the writer would leave out an empty message
  pbf_writer shape(parent, tag);
  for (const int64_t extent : extents) {
    pbf_writer dim(shape, shape_dim);
    dim.add_int64(dim_size, extent);
  }
}

// The attribute that TensorBoard's graph view writes beside a node's outgoing edges.
void add_output_shapes(pbf_writer& node, std::span<const int64_t> extents) {
  pbf_writer entry(node, node_attr);
  entry.add_string(map_key, "_output_shapes");
  pbf_writer value(entry, map_value);
  pbf_writer list(value, attr_list);
  add_shape(list, list_shape, extents);
}

}  // namespace

std::string version_event(double wall_time) {
  std::string bytes;
  pbf_writer event(bytes);
  event.add_double(wall_time_tag, wall_time);
  event.add_string(file_version, "brain.Event:2");
  return bytes;
}

std::string scalar_event(const std::string& tag, int64_t step, double wall_time, float number) {
  return summary_event(tag, step, wall_time, [&](pbf_writer& value) { value.add_float(simple_value, number); });
}

std::string text_event(const std::string& tag, int64_t step, double wall_time, const std::string& markdown) {
  return summary_event(tag, step, wall_time, [&](pbf_writer& value) {
    {
      pbf_writer strings(value, tensor);
      strings.add_enum(dtype, string_dtype);
      add_shape(strings, tensor_shape, {});
      strings.add_string(string_val, markdown);
    }
    pbf_writer about(value, metadata);
    {
      pbf_writer plugin(about, metadata_plugin_data);
      plugin.add_string(plugin_data_name, "text");
    }
    about.add_enum(metadata_data_class, tensor_data_class);
  });
}

std::string graph_event(double wall_time, std::span<const EventGraphNode> nodes) {
  std::string graph_bytes;
  pbf_writer graph(graph_bytes);
  for (const EventGraphNode& from : nodes) {
    pbf_writer node(graph, graph_node);
    node.add_string(node_name, from.name);
    node.add_string(node_op, from.op);
    for (const std::string& input : from.inputs) node.add_string(node_input, input);
    add_output_shapes(node, from.output_shape);
  }
  {
    pbf_writer versions(graph, graph_versions);
    versions.add_int32(versions_producer, graph_producer);
  }
  std::string bytes;
  pbf_writer event(bytes);
  event.add_double(wall_time_tag, wall_time);
  event.add_bytes(graph_def, graph_bytes);
  return bytes;
}

}  // namespace trainyard
