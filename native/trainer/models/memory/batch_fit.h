// Which batch a back end can take.
#pragma once
#include <cstddef>
#include <optional>

#include "common/error.h"
#include "trainer/layers/program.h"

namespace trainyard {

/// Memory of a program for this purpose, in bytes: its activations, and what its ops hold. Nothing
/// where the device cannot have such a program.
std::optional<size_t> program_bytes(const Graph& graph, Backend& backend, const Purpose& purpose);

/// The largest batch of at most `most` images whose program takes `limit` bytes at most; 0: none.
int largest_batch(const Graph& graph, Backend& backend, const Purpose& purpose, size_t limit, int most);

/// The largest batch none of whose tensors has more elements.
int batch_of_elements(const Graph& graph, size_t most_elements);

/// A batch has a tensor of more elements; one of `fits` images would fit (0: none).
Error too_many_elements(const Graph& graph, size_t most_elements, int batch, int fits);

}  // namespace trainyard
