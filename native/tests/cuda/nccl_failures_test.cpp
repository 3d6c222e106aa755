// What a failure of NCCL means for the run: whether the supervisor should try again.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/stopwatch.h"
#include "tests/cuda/throwing.h"
#include "trainer/ops/cuda/library/device_memory.h"
#include "trainer/ops/cuda/library/loaded/nccl_collectives.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {
namespace {

/// Of a device that is the host.
class Memory final : public BackendMemory {
 public:
  explicit Memory(size_t bytes) : bytes_(bytes) {}
  std::byte* data() const override { return bytes_.data(); }
  size_t bytes() const override { return bytes_.size(); }

 private:
  mutable std::vector<std::byte> bytes_;
};

class NcclFailures : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(::dlopen(TRAINYARD_NCCL_STAND_IN, RTLD_LAZY | RTLD_GLOBAL), nullptr) << ::dlerror();
    group_.world = 2;
    group_.who = "rank 1 of 2 on node7";
    group_.deadline_s = 5;
  }
  void TearDown() override { ::unsetenv("NCCL_STAND_IN"); }

  static void let(const std::string& function, ncclResult_t result) {
    ::setenv("NCCL_STAND_IN", (function + "=" + std::to_string(result)).c_str(), 1);
  }

  std::unique_ptr<WatchedCollectives> join() {
    return join_nccl({kThrowing, [](size_t bytes) { return std::make_unique<Memory>(bytes); },
                      [this] { aborts_at_drop_ = aborts(); }},
                     group_);
  }

  /// The error that `act` ends with.
  template <class F>
  static Error error_of(const F& act) {
    try {
      act();
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "nothing was thrown";
    return {Exit::internal, "nothing was thrown"};
  }

  static void expect(const Error& error, Retry retry, const std::string& part) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_EQ(error.retry(), retry) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }

  static int count(const char* what) { return reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, what))(); }
  static int aborts() { return count("ncclStandInAborts"); }
  static int registered() { return count("ncclStandInRegistered"); }

  DeviceGroup group_;
  int aborts_at_drop_ = -1;  ///< when recordings were given up
};

TEST_F(NcclFailures, ALostPeerInASumIsWorthRetrying) {
  const auto collectives = join();
  let("ncclAllReduce", ncclRemoteError);
  const Error error = error_of([&] { collectives->start_sum(nullptr, 1); });
  expect(error, Retry::worthwhile, "rank 1 of 2 on node7: ncclAllReduce: NCCL: remote process exited");
}

/// Rounded, summed as bf16, widened. The stand-in's sum of one rank is what it was given.
TEST_F(NcclFailures, NumbersTravelAsBf16WhereTheGroupSaysSo) {
  const std::vector<float> thirds{1.0F / 3, -2.0F / 3, 1e30F, 0};
  for (const bool narrow : {false, true}) {
    group_.narrow_sums = narrow;
    const auto collectives = join();
    let("ncclAllReduceOfType",
        narrow ? static_cast<ncclResult_t>(ncclBfloat16) : static_cast<ncclResult_t>(ncclFloat32));
    std::vector<float> values(thirds.size());
    const auto place = collectives->prepare(values.data(), values.size());
    EXPECT_EQ(place->bytes(), narrow ? 2 * values.size() : 0);
    for (int step = 0; step < 2; ++step) {
      values = thirds;
      collectives->start_sum(values.data(), 2);
      collectives->start_sum(values.data() + 2, 2);
      collectives->wait();
      for (size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(values[i], narrow ? static_cast<float>(BFloat16(thirds[i])) : thirds[i]) << i;
      }
    }
  }
}

TEST_F(NcclFailures, NumbersTravelAsBf16OnlyWhereTheyWereMadeReady) {
  group_.narrow_sums = true;
  const auto collectives = join();
  std::vector<float> values(8);
  const auto sum = [&](size_t first, size_t count) { collectives->start_sum(values.data() + first, count); };
  {
    const auto place = collectives->prepare(values.data() + 2, 4);
    sum(2, 4);
    sum(4, 2);
    EXPECT_EQ(error_of([&] { sum(1, 2); }).code(), Exit::internal);
    EXPECT_EQ(error_of([&] { sum(5, 2); }).code(), Exit::internal);
  }
  EXPECT_EQ(error_of([&] { sum(2, 4); }).code(), Exit::internal) << "the place is gone";
}

TEST_F(NcclFailures, StatisticsAreSummedInFp64OnTheStreamOfTheOps) {
  for (const bool narrow : {false, true}) {
    group_.narrow_sums = narrow;
    const auto collectives = join();
    std::vector<double> values{1.0 / 3, 1e300};
    let("ncclAllReduceOfType", static_cast<ncclResult_t>(ncclFloat64));
    collectives->sum(values.data(), values.size());
    let("ncclAllReduceOnOps", static_cast<ncclResult_t>(1));
    collectives->sum(values.data(), values.size());
    if (!narrow) {
      float one = 1;
      expect(error_of([&] { collectives->start_sum(&one, 1); }), Retry::pointless, "ncclAllReduce");
    }
    ::unsetenv("NCCL_STAND_IN");
    EXPECT_EQ(values, (std::vector<double>{1.0 / 3, 1e300}));
  }
}

TEST_F(NcclFailures, RecordingsAreGivenUpBeforeTheGroupIs) {
  const auto collectives = join();
  const int before = aborts();
  let("ncclAllReduce", ncclRemoteError);
  double value = 1;
  expect(error_of([&] { collectives->sum(&value, 1); }), Retry::worthwhile, "remote process exited");
  EXPECT_EQ(aborts_at_drop_, before);
  EXPECT_EQ(aborts(), before + 1);
  ::unsetenv("NCCL_STAND_IN");
  expect(error_of([&] { collectives->sum(&value, 1); }), Retry::worthwhile, "has left the group");
}

TEST_F(NcclFailures, MemoryIsRegisteredForAsLongAsItIsSummed) {
  const int before = registered();
  std::vector<float> values(8);
  for (const bool narrow : {false, true}) {
    group_.narrow_sums = narrow;
    const auto collectives = join();
    {
      const auto place = collectives->prepare(values.data(), values.size());
      EXPECT_EQ(place->bytes(), narrow ? 2 * values.size() : 0);
      EXPECT_EQ(registered(), before + 1);
    }
    EXPECT_EQ(registered(), before);
  }
}

TEST_F(NcclFailures, OfAGroupThatWasLeftNothingIsDeregistered) {
  const int before = registered();
  const auto collectives = join();
  std::vector<float> values(8);
  auto place = collectives->prepare(values.data(), values.size());
  collectives->abandon();
  place.reset();
  EXPECT_EQ(registered(), before + 1) << "the communicator is gone, and with it what it knew";
}

TEST_F(NcclFailures, SumsGoOnWhereMemoryCannotBeRegistered) {
  const auto said_by = [&](const std::string& function, int result) {
    const int before = registered();
    let(function, static_cast<ncclResult_t>(result));
    testing::internal::CaptureStderr();
    const auto collectives = join();
    std::vector<float> values{1, 2};
    {
      const auto place = collectives->prepare(values.data(), values.size());
      EXPECT_EQ(registered(), before);
      collectives->start_sum(values.data(), values.size());
      collectives->wait();
    }
    EXPECT_EQ(registered(), before);
    return testing::internal::GetCapturedStderr();
  };
  group_.rank = 0;
  EXPECT_EQ(
      said_by("ncclCommRegister", ncclSystemError),
      "trainer: note: sums go through NCCL's own memory (ncclCommRegister: NCCL: unhandled system error (run with "
      "NCCL_DEBUG=INFO for details))\n");
  EXPECT_EQ(said_by("ncclGetVersion", 21800),
            "trainer: note: sums go through NCCL's own memory (this NCCL is older than 2.19.1)\n");
  group_.rank = 1;
  EXPECT_EQ(said_by("ncclCommRegister", ncclSystemError), "") << "one rank says it";
}

/// What is there of a device's memory, and from whom.
TEST_F(NcclFailures, MemoryForSumsIsNcclsOwnWhereItHasSome) {
  const auto allocated = [] { return count("ncclStandInAllocated"); };
  const int before = allocated();
  const auto ledger = std::make_shared<Ledger>();
  const auto make = [&](const MemorySource& source) { return make_device_memory(kThrowing, ledger, 64, source); };
  {
    const auto memory = make(nccl_memory(kThrowing));
    EXPECT_EQ(allocated(), before + 1);
    EXPECT_EQ(ledger->used, 64U);
    EXPECT_EQ(memory->data()[63], std::byte{0});
    const auto other = make(cuda_memory(kThrowing));
    EXPECT_EQ(allocated(), before + 1);
    EXPECT_EQ(ledger->used, 128U);
  }
  EXPECT_EQ(allocated(), before);
  EXPECT_EQ(ledger->used, 0U);
  EXPECT_EQ(ledger->peak, 128U);
  let("ncclMemAlloc", ncclUnhandledCudaError);
  testing::internal::CaptureStderr();
  EXPECT_EQ(make(nccl_memory(kThrowing))->bytes(), 64U);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "trainer: note: ncclMemAlloc: unhandled cuda error (run with NCCL_DEBUG=INFO for details). Gradients lie in "
      "other memory, where sums take longer\n");
  let("ncclGetVersion", static_cast<ncclResult_t>(21800));
  EXPECT_EQ(make(nccl_memory(kThrowing))->bytes(), 64U);
  EXPECT_EQ(allocated(), before);
  EXPECT_EQ(make_device_memory(kThrowing, ledger, 0, cuda_memory(kThrowing))->data(), nullptr);
}

TEST_F(NcclFailures, AGpuThatFailsInABroadcastIsWorthRetrying) {
  const auto collectives = join();
  let("ncclBroadcast", ncclUnhandledCudaError);
  expect(error_of([&] { collectives->start_broadcast(nullptr, 1, 0); }), Retry::worthwhile, "unhandled cuda error");
}

TEST_F(NcclFailures, ALinkThatFailsWhileJoiningIsWorthRetrying) {
  let("ncclCommInitRankConfig", ncclSystemError);
  expect(error_of([&] { join(); }), Retry::worthwhile, "ncclCommInitRankConfig: NCCL: unhandled system error");
}

TEST_F(NcclFailures, AFailureReportedLaterIsWorthRetrying) {
  const auto collectives = join();
  let("async", ncclRemoteError);
  const Error error = error_of([&] { collectives->watch([] { return false; }); });
  expect(error, Retry::worthwhile, "the sum over the GPUs failed: NCCL: remote process exited");
}

/// As when a rank brings its weights to the host for a checkpoint, others being lost.
TEST_F(NcclFailures, AGroupThatWasLeftEndsNoWaitForTheDevice) {
  const auto collectives = join();
  collectives->abandon();
  const Stopwatch clock;
  EXPECT_NO_THROW(collectives->watch([&] { return clock.milliseconds() > 100; }));
  group_.deadline_s = 0;
  const auto hurried = join();
  hurried->abandon();
  expect(error_of([&] { hurried->watch([] { return false; }); }), Retry::worthwhile, "has waited 0 s");
}

TEST_F(NcclFailures, AWrongSetupIsNotWorthRetrying) {
  let("ncclCommInitRankConfig", ncclInvalidUsage);
  expect(error_of([&] { join(); }), Retry::pointless, "Give every rank a GPU of its own");
}

TEST_F(NcclFailures, AGroupThatWasLeftSaysSo) {
  const auto collectives = join();
  let("ncclAllReduce", ncclRemoteError);
  error_of([&] { collectives->start_sum(nullptr, 1); });
  ::unsetenv("NCCL_STAND_IN");
  expect(error_of([&] { collectives->start_sum(nullptr, 1); }), Retry::worthwhile, "has left the group");
}

}  // namespace
}  // namespace trainyard::cuda
