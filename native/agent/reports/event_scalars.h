// The figures in one message of a TensorBoard event file (tensorflow/core/util/event.proto).
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// One figure that a program reported.
struct Scalar {
  std::string tag;
  int64_t step = 0;
  double value = 0;  ///< may be no number
  double time = 0;   ///< seconds since the epoch
};

/// Reads the messages of one file, in their order: only a tag's first message may say that its
/// tensors are scalars.
class EventScalars {
 public:
  /// The figures of a message, as `simple_value` or as a tensor of one number of the plugin
  /// "scalars". Everything else in it is passed over. Throws FieldError where it is no such message.
  std::vector<Scalar> read(std::string_view event);

 private:
  std::set<std::string> tensors_;  ///< tags whose tensors are scalars
};

}  // namespace trainyard
