// TensorBoard event files, as tensorflow/core/util/event.proto and lib/io/record_writer describe
// them.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// One node of a graph for TensorBoard's graph view (GraphDef's NodeDef with _output_shapes).
struct EventGraphNode {
  std::string name;
  std::string op;
  std::vector<std::string> inputs;
  std::vector<int64_t> output_shape;  ///< -1 where unknown
};

/// Appends to DIR/events.out.tfevents.<time>.<host>.<pid>.<n>; one writer, one file. Records are
/// flushed by flush() and at the end. Throws Error(Exit::data) when the folder or the file cannot
/// be made or written.
class EventWriter {
 public:
  explicit EventWriter(const std::string& folder);
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  void scalar(const std::string& tag, int64_t step, double wall_time, float value);
  void graph(std::span<const EventGraphNode> nodes);
  void text(const std::string& tag, int64_t step, double wall_time, const std::string& markdown);
  void flush();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard
