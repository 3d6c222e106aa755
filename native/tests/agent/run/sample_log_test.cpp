#include "agent/run/sample_log.h"

#include <fstream>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

TEST(Samples, AreThinnedWithAge) {
  TemporaryFolder folder;
  const std::string path = folder.file("h.jsonl");
  const int now = 1'000'000;
  {
    std::ofstream out(path);
    for (int second = now - 2 * 86400; second <= now; ++second)
      out << "{\"time\":" << second << ".25,\"host\":\"h\"}\n";
  }
  const auto lines = [&] {
    std::ifstream in(path);
    int count = 0;
    for (std::string line; std::getline(in, line);) ++count;
    return count;
  };
  thin_samples(path, now);
  EXPECT_NEAR(lines(), 86400 / 60 + (86400 - 3600) / 10 + 3600, 5);
  const int once = lines();
  thin_samples(path, now);
  EXPECT_EQ(lines(), once);
}

}  // namespace
}  // namespace trainyard::test
