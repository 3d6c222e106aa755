// Memory aligned to pages, zero at first, owned by one object.
#pragma once
#include <cstddef>
#include <memory>

namespace trainyard {

class AlignedMemory {
 public:
  AlignedMemory() = default;
  /// `bytes` of zeros. Throws Error(Exit::device) when the machine has no such memory left.
  explicit AlignedMemory(size_t bytes);
  std::byte* data() const { return data_.get(); }
  /// Takes all pages from the system now, on every thread, for memory that is about to be written
  /// whole. Only a matter of speed: huge pages where the system has them at hand, small ones where
  /// it does not.
  void populate() const;
  size_t bytes() const { return bytes_; }

 private:
  struct Unmap {
    size_t bytes;
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Unmap> data_;
  size_t bytes_ = 0;
};

}  // namespace trainyard
