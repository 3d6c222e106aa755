#include "agent/run/gpu_pins.h"

#include <gtest/gtest.h>

#include "agent/run/folder/run_spec.h"
#include "common/error.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

std::string refusal(const Json& gpus, int ranks) {
  try {
    gpus_of({{"gpus", gpus}}, "gpus", ranks, "spec");
  } catch (const FieldError& error) {
    return error.what();
  }
  return "";
}

TEST(GpuPins, GiveEachRankOfANodeItsOwn) {
  using Variables = std::map<std::string, std::string>;
  const std::string list = gpus_text(gpus_of({{"gpus", {4, 0, 11}}}, "gpus", 2, "spec"));
  EXPECT_EQ(list, "4,0,11");
  for (const auto& [rank, gpu] : std::map<int, std::string>{{0, "4"}, {1, "0"}, {2, "11"}}) {
    EXPECT_EQ(pinned_gpu(list, rank), (Variables{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", gpu}}));
  }
  const auto share = [](const std::string& gpus, int rank, int ranks) {
    return pinned_gpu(gpus, rank, ranks).at("CUDA_VISIBLE_DEVICES");
  };
  EXPECT_EQ(share("4,0,11", 0, 1), "4,0,11");
  EXPECT_EQ(share("4,0,11", 0, 2), "4,0");
  EXPECT_EQ(share("4,0,11", 1, 2), "11");
  EXPECT_EQ(share("0,1,2,3,4", 0, 3), "0,1");
  EXPECT_EQ(share("0,1,2,3,4", 1, 3), "2,3");
  EXPECT_EQ(share("0,1,2,3,4", 2, 3), "4");
  EXPECT_EQ(share("4,0,11", 2, 3), "11");
  EXPECT_EQ(share("4,0", 1, 3), "0");
  EXPECT_THROW(share("4,0", 2, 3), Error);
  EXPECT_EQ(pinned_gpu("", 5), Variables());
  for (const int beyond : {3, -1}) {
    try {
      pinned_gpu(list, beyond);
      FAIL() << beyond;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::device);
      EXPECT_NE(std::string(error.what()).find("its GPUs 4,0,11"), std::string::npos) << error.what();
    }
  }
}

TEST(GpuPins, AreCheckedBeforeARunStarts) {
  EXPECT_EQ(gpus_of(Json::object(), "gpus", 3, "spec"), std::vector<int>());
  EXPECT_EQ(gpus_of({{"gpus", nullptr}}, "gpus", 3, "spec"), std::vector<int>());
  EXPECT_EQ(refusal({0, 1}, 2), "");
  EXPECT_EQ(refusal({0, 1}, 3), "spec.gpus names 2 GPUs for 3 ranks");
  EXPECT_EQ(refusal({1, 1}, 1), "spec.gpus names GPU 1 twice");
  for (const Json& wrong : {Json::array({-1}), Json::array({"0"}), Json::array({1e9}), Json("0,1"), Json(2)}) {
    EXPECT_NE(refusal(wrong, 1), "") << wrong;
  }
}

TEST(GpuPins, LeaveTheEnvironmentAloneWithoutAList) {
  Json spec = {{"version", 1}, {"program", "command"}, {"argv", {"true"}}, {"paths", {{"mpiexec", "/m"}}}};
  EXPECT_TRUE(parse_run_spec(spec).gpus.empty());
  spec["gpus"] = {2};
  EXPECT_EQ(parse_run_spec(spec).gpus, std::vector<int>{2});
  spec["ranks"] = 2;
  EXPECT_THROW(parse_run_spec(spec), FieldError);
}

TEST(NvidiaFolders, AreAbsoluteAndEachOne) {
  Json spec = {{"version", 1}, {"program", "command"}, {"argv", {"true"}}, {"paths", {{"mpiexec", "/m"}}}};
  spec["launcher"] = "manual";
  spec["nodes"] = {{{"host", "gpu1"}, {"address", "127.0.0.2"}, {"slots", 1}, {"nvidia", {"/a b", "/c"}}}};
  EXPECT_EQ(parse_run_spec(spec).nodes.front().nvidia, "/a b:/c");
  for (const char* wrong : {"", "relative", "/a:/b"}) {
    spec["nodes"][0]["nvidia"] = {wrong};
    EXPECT_THROW(parse_run_spec(spec), FieldError) << wrong;
  }
}

}  // namespace
}  // namespace trainyard::test
