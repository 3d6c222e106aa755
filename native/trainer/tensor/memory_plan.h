// One piece of memory for every activation, gradient and scratch buffer of a model: buffers that
// are never needed at the same time share addresses, so a step allocates nothing.
#pragma once
#include <cstddef>
#include <vector>

namespace trainyard {

/// Buffers with lifetimes on a line of integer times. Add and use them, then solve() once.
class MemoryPlan {
 public:
  static constexpr size_t kAlignment = 64;  ///< a cache line, and an AVX-512 register

  /// A buffer of `bytes`, which lives from `time` on. Returns its number. Zero bytes are allowed
  /// and take no room.
  int add(size_t bytes, int time);
  /// Extends the buffer's lifetime to cover `time`.
  void use(int buffer, int time);
  /// Gives every buffer an offset: the largest first, each at the lowest address where it meets no
  /// buffer that lives at the same time ("greedy by size", Pisarchyk and Lee 2020,
  /// arXiv:2001.03288).
  void solve();

  size_t offset(int buffer) const { return buffers_[static_cast<size_t>(buffer)].offset; }
  size_t bytes(int buffer) const { return buffers_[static_cast<size_t>(buffer)].bytes; }
  int first(int buffer) const { return buffers_[static_cast<size_t>(buffer)].first; }
  int last(int buffer) const { return buffers_[static_cast<size_t>(buffer)].last; }
  int count() const { return static_cast<int>(buffers_.size()); }
  /// Bytes of the whole arena; 0 before solve().
  size_t total() const { return total_; }

 private:
  struct Buffer {
    size_t bytes;
    int first;
    int last;
    size_t offset;
  };
  std::vector<Buffer> buffers_;
  size_t total_ = 0;
};

}  // namespace trainyard
