// What crosses from a node to the head's folder, where the head's disk takes nothing for a while.
#include "agent/cluster/head_copy.h"

#include <filesystem>

#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

Json record(int rank) {
  return {{"generation", 1}, {"rank", rank}, {"text", R"({"rank":)" + std::to_string(rank) + "}"}};
}
const Json kBeat = {{"generation", 1}, {"ranks", Json::array()}};

class HeadCopyTest : public ::testing::Test {
 protected:
  HeadCopyTest() {
    fs::create_directories(folder_.file("exits"));
    copy_.set_ranks(1, 0, 2);
  }
  /// A folder that takes no file, also of root: it is none.
  void take_away() const {
    fs::rename(folder_.file("exits"), folder_.file("elsewhere"));
    write_file(folder_.file("exits"), "");
  }
  void give_back() const {
    fs::remove(folder_.file("exits"));
    fs::rename(folder_.file("elsewhere"), folder_.file("exits"));
  }
  std::string path(int rank) const { return run_.exit_record(1, rank); }

  TemporaryFolder folder_;
  RunFolder run_{folder_.path()};
  HeadCopy copy_{run_, "gpu2"};
};

TEST_F(HeadCopyTest, writes_a_record_that_the_disk_did_not_take_once_it_does) {
  take_away();
  EXPECT_TRUE(copy_.take("ended", record(0)));
  EXPECT_TRUE(copy_.take("ended", record(1)));
  EXPECT_TRUE(copy_.take("beat", kBeat));
  give_back();
  EXPECT_FALSE(fs::exists(path(0)));
  EXPECT_TRUE(copy_.take("beat", kBeat));
  EXPECT_EQ(read_file(path(0)), "{\"rank\":0}\n");
  EXPECT_EQ(read_file(path(1)), "{\"rank\":1}\n");
}

TEST_F(HeadCopyTest, leaves_out_records_of_a_generation_that_is_over) {
  take_away();
  copy_.take("ended", record(0));
  copy_.set_ranks(2, 0, 2);
  give_back();
  copy_.take("beat", kBeat);
  EXPECT_FALSE(fs::exists(path(0)));
}

}  // namespace
}  // namespace trainyard::test
