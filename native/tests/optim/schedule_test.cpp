// Learning rates against closed formulas and against PyTorch's schedulers, whose values are quoted.
#include "trainer/optim/schedule.h"

#include <gtest/gtest.h>

namespace trainyard {
namespace {

constexpr double kClose = 1e-12;

TEST(Schedules, WarmUpIsLinearAndEndsAtThePeak) {
  for (const Decay decay : {Decay::cosine, Decay::poly, Decay::step}) {
    const Schedule schedule{decay, 0.1, 0.8, 7, 100, {50}};
    for (int64_t step = 0; step < 7; ++step) {
      EXPECT_NEAR(schedule.at(step), 0.1 + 0.7 * static_cast<double>(step + 1) / 7, kClose) << step;
    }
    EXPECT_NEAR(schedule.at(6), 0.8, kClose);
    EXPECT_NEAR(schedule.at(7), 0.8, kClose);
  }
}

TEST(Schedules, CosineIsPyTorchs) {
  // torch.optim.lr_scheduler.CosineAnnealingLR(T_max=8) from 0.4, after 0 to 8 steps.
  const double want[] = {0.40000000000000002,  0.38477590650225735,  0.34142135623730951,
                         0.27653668647301799,  0.20000000000000001,  0.12346331352698206,
                         0.058578643762690508, 0.015224093497742654, 0};
  const Schedule schedule{Decay::cosine, 0.4, 0.4, 0, 8, {}};
  for (int64_t step = 0; step <= 8; ++step) EXPECT_NEAR(schedule.at(step), want[step], kClose) << step;
}

TEST(Schedules, PolyIsPyTorchs) {
  // torch.optim.lr_scheduler.PolynomialLR(total_iters=8, power=2) from 0.4, after 0 to 9 steps.
  const double want[] = {0.40000000000000002,
                         0.30625000000000002,
                         0.22500000000000001,
                         0.15625000000000003,
                         0.10000000000000003,
                         0.056250000000000022,
                         0.025000000000000008,
                         0.0062500000000000021,
                         0,
                         0};
  const Schedule schedule{Decay::poly, 0.4, 0.4, 0, 8, {}};
  for (int64_t step = 0; step <= 9; ++step) EXPECT_NEAR(schedule.at(step), want[step], kClose) << step;
}

TEST(Schedules, StepsArePyTorchs) {
  // torch.optim.lr_scheduler.MultiStepLR(milestones=[3, 6, 8], gamma=0.1) from 0.4, after 0 to 9
  // steps.
  const double want[] = {0.40000000000000002,    0.40000000000000002,   0.40000000000000002,  0.040000000000000008,
                         0.040000000000000008,   0.040000000000000008,  0.004000000000000001, 0.004000000000000001,
                         0.00040000000000000013, 0.00040000000000000013};
  const Schedule schedule{Decay::step, 0.4, 0.4, 0, 10, {3, 6, 8}};
  for (int64_t step = 0; step <= 9; ++step) EXPECT_NEAR(schedule.at(step), want[step], kClose) << step;
}

TEST(Schedules, DropAtThirtySixtyAndEightyOfNinety) {
  EXPECT_EQ(default_drops(90), (std::vector<int64_t>{30, 60, 80}));
  EXPECT_EQ(default_drops(450450), (std::vector<int64_t>{150150, 300300, 400400}));
}

}  // namespace
}  // namespace trainyard
