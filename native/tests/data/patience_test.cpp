// Disks and servers that fail while images are read.
#include "trainer/data/patience.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>
#include <thread>

#include "common/error.h"
#include "support.h"
#include "trainer/data/images/image.h"
#include "trainer/data/source.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Error failure(int number) {
  errno = number;
  return file_error("read", "/data/a.jpg");
}

/// As a data set whose disk is away for the first `times` reads of every image.
class Failing : public Dataset {
 public:
  Failing(std::unique_ptr<Dataset> whole, int number, int times)
      : whole_(std::move(whole)), number_(number), times_(times), reads_(whole_->size()) {}
  size_t size() const override { return whole_->size(); }
  const std::vector<std::string>& class_names() const override { return whole_->class_names(); }
  int32_t label(size_t index) const override { return whole_->label(index); }
  std::string name(size_t index) const override { return whole_->name(index); }
  bool pixels(size_t, int, uint8_t*) const override { return false; }
  std::string encoded(size_t index) const override {
    if (reads_[index]++ < times_) throw failure(number_);
    return whole_->encoded(index);
  }

 private:
  std::unique_ptr<Dataset> whole_;
  int number_;
  int times_;
  mutable std::vector<std::atomic<int>> reads_;
};

class DisksThatFail : public ::testing::Test {
 protected:
  DisksThatFail() {
    write_samples(folder_, 2, 4);
    options_.image_size = 16;
    options_.batch = 4;
    options_.threads = 3;
    options_.on_bad_image = [this](const std::string& path, const std::string&) { bad_.insert(path); };
    options_.on_retry = [this](const std::string& line) {
      const std::lock_guard lock(mutex_);
      said_.insert(line);
    };
  }
  std::unique_ptr<Dataset> data(int number, int times) {
    return std::make_unique<Failing>(open_dataset(folder_.path(), 16), number, times);
  }

  TemporaryFolder folder_;
  LoaderOptions options_;
  std::set<std::string> bad_;
  std::mutex mutex_;
  std::set<std::string> said_;
};

TEST_F(DisksThatFail, a_moment_away_costs_no_image) {
  const auto sound = take(*open_dataset(folder_.path(), 16), options_, 0, 4);
  const auto failed = take(*data(ESTALE, 1), options_, 0, 4);
  for (size_t i = 0; i < sound.size(); ++i) {
    EXPECT_EQ(failed[i].indices, sound[i].indices);
    EXPECT_EQ(failed[i].images, sound[i].images);
  }
  EXPECT_THAT(bad_, IsEmpty());
  EXPECT_THAT(said_, ::testing::Contains(AllOf(HasSubstr("/data/a.jpg: Stale file handle"), HasSubstr("up to 60 s"))));
}

TEST_F(DisksThatFail, for_too_long_end_the_run_which_may_be_started_again) {
  options_.retry_seconds = 0.25;
  try {
    take(*data(EIO, 1000), options_, 0, 4);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_EQ(error.retry(), Retry::worthwhile);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/data/a.jpg: Input/output error"), HasSubstr("was tried for")));
  }
  EXPECT_THAT(bad_, IsEmpty());
}

TEST_F(DisksThatFail, what_stays_is_not_waited_for) {
  options_.retry_seconds = 86'400;
  try {
    take(*data(EACCES, 1000), options_, 0, 4);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.retry(), Retry::pointless);
    EXPECT_THAT(error.what(), HasSubstr("/data/a.jpg: Permission denied"));
  }
}

TEST_F(DisksThatFail, a_loader_that_is_done_with_does_not_wait_for_them) {
  options_.retry_seconds = 86'400;
  const auto failing = data(EIO, 1'000'000);
  auto loader = make_loader(*failing, options_);
  loader->start(0);
  loader.reset();  // a test that hangs here has failed
}

TEST_F(DisksThatFail, a_removed_file_is_a_bad_image_and_a_removed_folder_is_none) {
  namespace fs = std::filesystem;
  const auto opened = open_dataset(folder_.path(), 16);
  const std::string first = opened->name(0);
  fs::remove(first);
  EXPECT_THROW(static_cast<void>(opened->encoded(0)), BadImage);
  fs::remove_all(fs::path(first).parent_path());
  try {
    opened->encoded(1);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.retry(), Retry::worthwhile);
    EXPECT_THAT(error.what(), HasSubstr("no longer there"));
  }
}

TEST(Patience, gives_what_comes_and_asks_no_more) {
  std::vector<std::string> said;
  Patience patience(60, [&](const std::string& line) { said.push_back(line); });
  int calls = 0;
  const auto third_time = [&]() -> std::string {
    if (++calls < 3) throw failure(ETIMEDOUT);
    return "bytes";
  };
  EXPECT_EQ(patience.read(third_time), "bytes");
  EXPECT_EQ(calls, 3);
  EXPECT_THAT(said, ElementsAre(HasSubstr("Connection timed out"), HasSubstr("can be read again")));
}

TEST(Patience, ends_where_it_stands) {
  Patience patience(86'400);
  std::atomic<bool> tried = false;
  auto reading = std::async(std::launch::async, [&] {
    return patience.read([&]() -> std::string {
      tried = true;
      throw failure(EIO);
    });
  });
  while (!tried) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  patience.end();
  EXPECT_THROW(static_cast<void>(reading.get()), Error);
}

}  // namespace
}  // namespace trainyard
