// Medians over a rank's steps, whose memory is bounded however long an interval is.
#include "trainer/train/process/step_times.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

RankFigures filled(const StepTimes& times) {
  RankFigures figures{.memory_used = 7};
  times.fill(figures);
  EXPECT_EQ(figures.memory_used, 7) << "what is not of steps stays";
  return figures;
}

TEST(StepTimes, AreMediansOfEachPart) {
  StepTimes times;
  times.add({.whole_ms = 100, .comm_ms = 10, .input_wait_ms = 0});
  times.add({.whole_ms = 5000, .comm_ms = 20, .input_wait_ms = 4});  // a pause of the machine
  times.add({.whole_ms = 110, .comm_ms = 60, .input_wait_ms = 2});
  const RankFigures odd = filled(times);
  EXPECT_EQ(odd.steps, 3);
  EXPECT_EQ(odd.compute_ms, 90);
  EXPECT_EQ(odd.comm_ms, 20);
  EXPECT_EQ(odd.input_wait_ms, 2);
  times.add({.whole_ms = 70, .comm_ms = 0, .input_wait_ms = 0});
  const RankFigures even = filled(times);
  EXPECT_EQ(even.compute_ms, 80) << "of 48, 70, 90 and 4976";
  EXPECT_EQ(even.comm_ms, 15);
  EXPECT_EQ(even.input_wait_ms, 1);
}

TEST(StepTimes, AreNoneWithoutSteps) {
  StepTimes times;
  EXPECT_EQ(filled(times).steps, 0);
  times.add({.whole_ms = 8, .comm_ms = 9, .input_wait_ms = 0});
  EXPECT_EQ(filled(times).compute_ms, 0) << "clocks that disagree make no negative time";
  times.restart();
  const RankFigures figures = filled(times);
  EXPECT_EQ(figures.steps, 0);
  EXPECT_EQ(figures.comm_ms, 0);
}

TEST(StepTimes, KeepTheNewestOfALongInterval) {
  StepTimes times;
  for (size_t step = 0; step < 3 * StepTimes::most; ++step)
    times.add({.whole_ms = step < 2 * StepTimes::most ? 1.0 : 3.0});
  EXPECT_EQ(filled(times).steps, static_cast<double>(StepTimes::most));
  EXPECT_EQ(filled(times).compute_ms, 3);
}

}  // namespace
}  // namespace trainyard
