// Lines are whole wherever a read ends, and what waits for a slow reader takes no more memory than
// it must.
#include "agent/messages/frames.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "common/files.h"

namespace trainyard::test {
namespace {

TEST(FrameWriter, ALinkThatIsNeverIdleTakesBoundedMemory) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
  const Descriptor reader(ends[0]), end(ends[1]);
  FrameWriter writer(end.get());
  constexpr size_t kMessage = 350'000;  // 256 KiB in base64
  constexpr size_t kHighWater = 1 << 20;
  constexpr size_t kAll = 64 << 20;
  std::string chunk(48'000, '\0');
  size_t sent = 0, got = 0, most_held = 0;
  char next = 'a', expected = 'a';
  size_t of_line = 0;
  while (got < kAll) {
    while (writer.waiting() < kHighWater) {  // as `agent serve` does: never empty, never far beyond
      writer.send(std::string(kMessage - 1, next));
      next = next == 'z' ? 'a' : static_cast<char>(next + 1);
      sent += kMessage;
    }
    ASSERT_TRUE(writer.flush());
    most_held = std::max(most_held, writer.held());
    const ssize_t part = ::read(reader.get(), chunk.data(), chunk.size());
    ASSERT_GT(part, 0);
    for (ssize_t at = 0; at < part; ++at) {
      const bool is_end = ++of_line == kMessage;
      ASSERT_EQ(chunk[static_cast<size_t>(at)], is_end ? '\n' : expected) << "byte " << got + static_cast<size_t>(at);
      if (!is_end) continue;
      of_line = 0;
      expected = expected == 'z' ? 'a' : static_cast<char>(expected + 1);
    }
    got += static_cast<size_t>(part);
  }
  EXPECT_GE(sent, kAll);
  EXPECT_LE(most_held, 4 * (kHighWater + kMessage));
}

TEST(LineReader, CutsLinesWhereverReadsEnd) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor in(ends[0]);
  Descriptor out(ends[1]);
  LineReader reader(in.get(), 10);
  const auto feed = [&](const std::string& bytes) {
    write_all(out.get(), bytes, "pipe");
    reader.fill();
  };
  feed("on");
  EXPECT_FALSE(reader.next());
  feed("e\ntwo\n01234567890123");
  EXPECT_EQ(reader.next()->text, "one");
  EXPECT_EQ(reader.next()->text, "two");
  EXPECT_FALSE(reader.next());
  feed("456\n0123456789\n");
  EXPECT_TRUE(reader.next()->too_long);
  EXPECT_EQ(reader.next()->text, "0123456789");
  out = Descriptor();
  EXPECT_FALSE(reader.fill());
}

}  // namespace
}  // namespace trainyard::test
