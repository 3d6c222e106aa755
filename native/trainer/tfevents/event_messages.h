// The messages of TensorBoard's event files, encoded: tensorflow/core/util/event.proto,
// framework/{summary,graph,node_def, attr_value,tensor,tensor_shape}.proto. Only the fields written
// here.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "trainer/tfevents/event_writer.h"

namespace trainyard {

/// The first record of every file.
std::string version_event(double wall_time);

/// A scalar as `simple_value`, the one form that every reader takes for a scalar: TensorBoard's
/// own, old and new, and the programs that read event files without it.
std::string scalar_event(const std::string& tag, int64_t step, double wall_time, float value);

/// A text as a string tensor of the plugin "text".
std::string text_event(const std::string& tag, int64_t step, double wall_time, const std::string& markdown);

std::string graph_event(double wall_time, std::span<const EventGraphNode> nodes);

}  // namespace trainyard
