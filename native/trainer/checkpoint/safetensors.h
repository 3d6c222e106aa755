// Writing safetensors files: an 8-byte length, a JSON header, the tensors' bytes.
#pragma once
#include <span>

#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/file_output.h"

namespace trainyard {

/// Writes a whole safetensors file, tensor by tensor, straight from their memory. The counters'
/// eight bytes come first in the data, so that all data are aligned to their type. Throws
/// file_error, and Error(Exit::internal) for a tensor whose values are not as many as its shape
/// says, or a name given twice.
void write_safetensors(FileOutput& out, std::span<const CounterView> counters, std::span<const TensorView> tensors);

}  // namespace trainyard
