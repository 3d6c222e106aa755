#include "trainer/base/aligned_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trainyard {
namespace {

size_t pages_present(const AlignedMemory& memory) {
  std::vector<unsigned char> present((memory.bytes() + 4095) / 4096);
  EXPECT_EQ(mincore(memory.data(), memory.bytes(), present.data()), 0);
  return static_cast<size_t>(std::ranges::count_if(present, [](unsigned char page) { return (page & 1U) != 0; }));
}

TEST(AlignedMemory, populate_takes_every_page_and_changes_no_byte) {
  for (const size_t bytes : {size_t{100}, size_t{40'000}, (size_t{9} << 20U) + 5}) {
    const AlignedMemory memory(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 4096, 0U);
    EXPECT_EQ(pages_present(memory), 0U);
    memory.data()[bytes / 2] = std::byte{7};
    memory.populate();
    EXPECT_EQ(pages_present(memory), (bytes + 4095) / 4096);
    EXPECT_EQ(memory.data()[bytes / 2], std::byte{7});
    EXPECT_EQ(std::count(memory.data(), memory.data() + bytes, std::byte{0}), static_cast<std::ptrdiff_t>(bytes - 1));
  }
  AlignedMemory().populate();
}

}  // namespace
}  // namespace trainyard
