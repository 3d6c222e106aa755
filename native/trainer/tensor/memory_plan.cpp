#include "trainer/tensor/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace trainyard {

int MemoryPlan::add(size_t bytes, int time) {
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  buffers_.push_back({rounded, time, time, 0});
  return count() - 1;
}

void MemoryPlan::use(int buffer, int time) {
  Buffer& used = buffers_[static_cast<size_t>(buffer)];
  used.first = std::min(used.first, time);
  used.last = std::max(used.last, time);
}

void MemoryPlan::solve() {
  std::vector<size_t> order(buffers_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
  std::vector<size_t> placed;  // in rising order of offset
  total_ = 0;
  for (const size_t index : order) {
    Buffer& buffer = buffers_[index];
    size_t offset = 0;
    for (const size_t other_index : placed) {
      const Buffer& other = buffers_[other_index];
      if (other.last < buffer.first || buffer.last < other.first) continue;
      if (offset + buffer.bytes <= other.offset) break;
      offset = std::max(offset, other.offset + other.bytes);
    }
    buffer.offset = offset;
    total_ = std::max(total_, offset + buffer.bytes);
    const auto after =
        std::find_if(placed.begin(), placed.end(), [&](size_t other) { return buffers_[other].offset > offset; });
    placed.insert(after, index);
  }
}

}  // namespace trainyard
