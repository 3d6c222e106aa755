// The JSON header of a safetensors file (huggingface/safetensors, "Format").
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/checkpoint/checkpoint.h"

namespace trainyard {

/// The format's own limit for the header.
inline constexpr uint64_t largest_safetensors_header = 100'000'000;

/// Reads the header (without its 8-byte length) of a file with `data_bytes` after it. The entries
/// come back in the order of their data and cover it without a gap or an overlap, each as long as
/// its type and shape say. Throws Error(Exit::data) naming `path` for anything else. Takes memory
/// in proportion to the entries only, however the JSON is nested.
std::vector<LoadedTensors::Entry> parse_safetensors_header(std::string_view header, uint64_t data_bytes,
                                                           const std::string& path);

}  // namespace trainyard
