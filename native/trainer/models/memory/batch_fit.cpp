#include "trainer/models/memory/batch_fit.h"

#include <algorithm>
#include <limits>
#include <string>

namespace trainyard {

namespace {

/// Elements of one image in a layer's output.
size_t elements(const Layer& layer) { return static_cast<size_t>(layer.output_shape().elements()); }

/// The layer whose output is the largest tensor.
const Layer& largest(const Graph& graph) {
  return **std::ranges::max_element(graph.layers(), {}, [](const auto& layer) { return elements(*layer); });
}

uint64_t used(Backend& backend) { return backend.memory_figures().value_or(MemoryFigures{}).used; }

}  // namespace

std::optional<size_t> program_bytes(const Graph& graph, Backend& backend, const Purpose& purpose) {
  const uint64_t before = used(backend);
  try {
    const Program program(graph, backend, purpose);
    return program.arena_bytes() + (used(backend) - before);
  } catch (const Error& error) {
    if (error.code() != Exit::device) throw;
    return std::nullopt;
  }
}

int largest_batch(const Graph& graph, Backend& backend, const Purpose& purpose, size_t limit, int most) {
  const auto enough = [&](int batch, bool timed) {
    Purpose other = purpose;
    other.batch = batch;
    other.timed = timed;
    const auto bytes = program_bytes(graph, backend, other);
    return bytes && *bytes <= limit;
  };
  int fits = 0;
  for (int low = 1, high = most; low <= high;) {
    const int batch = low + (high - low) / 2;
    const bool here = enough(batch, false);
    if (here) fits = batch;
    here ? low = batch + 1 : high = batch - 1;
  }
  // Kernels that are chosen by time may want more memory than the usual ones.
  while (fits > 0 && !enough(fits, true)) fits -= 1 + fits / 64;
  return std::max(fits, 0);
}

int batch_of_elements(const Graph& graph, size_t most_elements) {
  constexpr size_t kMost = std::numeric_limits<int>::max();
  return static_cast<int>(std::min(most_elements / elements(largest(graph)), kMost));
}

Error too_many_elements(const Graph& graph, size_t most_elements, int batch, int fits) {
  const Layer& layer = largest(graph);
  return {Exit::device,
          "a batch of " + std::to_string(batch) + " has a tensor of " +
              std::to_string(elements(layer) * static_cast<size_t>(batch)) + " elements (the output of " +
              layer.name() + "), and this back end takes " + std::to_string(most_elements) + " at most. " +
              (fits > 0 ? "Use --batch-size " + std::to_string(fits) + ", which fits, or a smaller --image-size"
                        : "Not even one image fits. Use a smaller --image-size")};
}

}  // namespace trainyard
