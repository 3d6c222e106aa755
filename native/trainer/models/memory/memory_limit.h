// How much memory is left for activations, and what is said when it is too little.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "common/error.h"
#include "trainer/ops/contract/memory_figures.h"

namespace trainyard {

struct MemoryLimit {
  size_t bytes = 0;
  std::string memory;  ///< "GPU memory"
  std::string of;      ///< what it is a part of: " of 40 MiB, of which …"
  std::string remedy;  ///< where not even one image fits: "end what else …"
};

/// On a GPU. to_come: bytes that the rank will ask for besides.
MemoryLimit device_memory_limit(const MemoryFigures& memory, size_t to_come);

/// In the host's memory, of which `free` bytes are free and `ranks` ranks take equal parts. Nothing
/// where `free` is kUnknownMemory.
std::optional<MemoryLimit> host_memory_limit(uint64_t free, int ranks, size_t to_come);

/// A batch needs `bytes`; one of `fits` images would fit (0: none).
Error out_of_memory(const MemoryLimit& limit, int batch, size_t bytes, int fits);

}  // namespace trainyard
