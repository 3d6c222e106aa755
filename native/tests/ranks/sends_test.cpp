// Bytes sent to a device whose stream stands still: the host goes on while places are left.
#include "trainer/ops/cuda/sends.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "common/error.h"

namespace trainyard::cuda {
namespace {

/// A stream whose copies run one by one, at each call of move().
struct Stream {
  struct Copy {
    std::byte* to;
    const std::byte* from;
    size_t bytes;
    bool* read;
  };
  std::deque<Copy> copies;

  void move() {
    const Copy copy = copies.front();
    copies.pop_front();
    std::memcpy(copy.to, copy.from, copy.bytes);
    *copy.read = true;
  }
};

class Place final : public SendPlace {
 public:
  explicit Place(Stream& stream) : stream_(stream) {}
  std::byte* data() override { return memory_.data(); }
  void start(void* memory, size_t bytes) override {
    read_ = false;
    stream_.copies.push_back({static_cast<std::byte*>(memory), memory_.data(), bytes, &read_});
  }
  bool is_read() override { return read_; }

 private:
  Stream& stream_;
  std::array<std::byte, kMostSent> memory_{};
  bool read_ = true;
};

class SendsToAStream : public testing::Test {
 protected:
  static constexpr size_t kPlaces = 3;

  SendsToAStream() : sends_(places(), [this](const auto& done) { wait(done); }) {}

  std::vector<std::unique_ptr<SendPlace>> places() {
    std::vector<std::unique_ptr<SendPlace>> made;
    for (size_t i = 0; i < kPlaces; ++i) made.push_back(std::make_unique<Place>(stream_));
    return made;
  }
  void wait(const std::function<bool()>& done) {
    ++waits_;
    if (stuck_) throw Error(Exit::device, "the deadline is over");
    while (!done()) stream_.move();
  }
  void send(size_t to, int number) { sends_.send(&device_.at(to), &number, sizeof(number)); }

  Stream stream_;
  bool stuck_ = false;  ///< others never come
  int waits_ = 0;
  Sends sends_;
  std::array<int, 8> device_{};
};

TEST_F(SendsToAStream, DoNotWaitForIt) {
  for (size_t i = 0; i < kPlaces; ++i) send(i, 10 + static_cast<int>(i));
  EXPECT_EQ(waits_, 0);
  EXPECT_EQ(device_[0], 0) << "the stream has not moved";
  while (!stream_.copies.empty()) stream_.move();
  EXPECT_EQ(device_[0], 10) << "the host's number is gone by now";
  EXPECT_EQ(device_[2], 12);
  for (size_t i = 0; i < kPlaces; ++i) send(i, 20);
  EXPECT_EQ(waits_, 0) << "places are free again";
}

TEST_F(SendsToAStream, WaitForTheOldestWhereNoPlaceIsLeft) {
  for (size_t i = 0; i <= kPlaces; ++i) send(i, 10 + static_cast<int>(i));
  EXPECT_EQ(waits_, 1);
  EXPECT_EQ(stream_.copies.size(), kPlaces) << "the oldest alone was waited for";
  while (!stream_.copies.empty()) stream_.move();
  for (size_t i = 0; i <= kPlaces; ++i) EXPECT_EQ(device_.at(i), 10 + static_cast<int>(i));
}

TEST_F(SendsToAStream, EndThatWaitAsItsWatchDoes) {
  stuck_ = true;
  for (size_t i = 0; i < kPlaces; ++i) send(i, 1);
  EXPECT_THROW(send(0, 2), Error);
}

TEST_F(SendsToAStream, TakeNothingWhereNothingIsSent) {
  sends_.send(nullptr, nullptr, 0);
  EXPECT_TRUE(stream_.copies.empty());
}

}  // namespace
}  // namespace trainyard::cuda
