#include "trainer/train/process/io_beat.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <memory>

namespace trainyard {
namespace {

/// Another thread's, as a thread does not count its own.
void move_bytes(size_t count) {
  std::thread([count] {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    const std::array<char, 512> some{};
    for (size_t done = 0; done < count; done += some.size()) {
      ASSERT_EQ(::write(::fileno(file.get()), some.data(), some.size()), ssize_t{512});
    }
  }).join();
}

TEST(IoProgress, is_seen_where_bytes_move_and_nowhere_else) {
  IoProgress progress;
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(progress.moved());
  move_bytes(8192);
  EXPECT_TRUE(progress.moved());
  EXPECT_FALSE(progress.moved());
  for (int i = 0; i < 8; ++i) move_bytes(1024);  // a little at a time adds up
  EXPECT_TRUE(progress.moved());
}

TEST(IoBeat, beats_while_bytes_move_and_ends_at_once) {
  std::atomic<int> beats = 0;
  {
    const IoBeat alive([&] { ++beats; });
    while (beats < 2) move_bytes(8192);  // a test that hangs here has failed
  }
  const int after = beats;
  move_bytes(8192);
  EXPECT_EQ(beats, after);
  const IoBeat idle([&] { ++beats; });
}

}  // namespace
}  // namespace trainyard
