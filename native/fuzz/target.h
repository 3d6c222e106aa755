// What a fuzz target gives: libFuzzer's entry, and inputs to begin with, made by our own writers.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/files.h"

namespace trainyard::fuzz {

/// Files of the kind that the target reads, whole and sound.
std::vector<std::string> seeds();

/// One input. Ends the process where a promise is broken.
void run(std::string_view input);

/// Ends the process, so that libFuzzer keeps the input.
void require(bool holds, const char* promise);

/// A file in memory with these bytes.
Descriptor memory_file(std::string_view bytes);

}  // namespace trainyard::fuzz
