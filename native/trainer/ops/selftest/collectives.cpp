#include <cmath>
#include <iterator>
#include <memory>
#include <vector>

#include "trainer/base/random.h"
#include "trainer/ops/selftest/selftest.h"

namespace trainyard {

std::vector<SelftestRow> selftest_collectives(Backend& tested) {
  constexpr size_t kElements = 100'003;
  constexpr size_t kParts[] = {kElements, 70'001, 64, 0};  // from the end on, as gradients become ready
  Random random{7};
  std::vector<float> values(kElements);
  for (float& value : values) value = static_cast<float>(random.uniform() - 0.5);
  const auto memory = tested.allocate(kElements * sizeof(float));
  auto* data = reinterpret_cast<float*>(memory->data());
  DeviceCollectives* group = tested.join({.id = tested.new_group_id(), .who = "the self test", .deadline_s = 60});

  const auto row = [&](const char* op, const auto& start) -> SelftestRow {
    tested.from_host(data, values.data(), kElements * sizeof(float));
    start();
    group->wait();
    std::vector<float> got(kElements, std::nanf(""));
    tested.to_host(got.data(), data, kElements * sizeof(float));
    double difference = 0;
    double length = 0;
    for (size_t i = 0; i < kElements; ++i) {
      difference += std::pow(double{got[i]} - double{values[i]}, 2);
      length += std::pow(double{values[i]}, 2);
    }
    return {op, "values", std::sqrt(difference / length), 0};
  };
  const auto sums = [&] {
    for (size_t i = 0; i + 1 < std::size(kParts); ++i)
      group->start_sum(data + kParts[i + 1], kParts[i] - kParts[i + 1]);
  };
  // As the statistics of batch norm: one op, launched and recorded. The numbers are half as many.
  std::unique_ptr<Recording> recording;
  const auto op = [&] { group->sum(reinterpret_cast<double*>(data), kElements / 2); };
  const auto recorded = [&] {
    op();
    recording = tested.record(op);
    if (recording) recording->run();
  };
  return {row("sums over a group of one", sums), row("sum as an op in a group of one", recorded),
          row("broadcast in a group of one", [&] { group->start_broadcast(data, kElements, 0); })};
}

}  // namespace trainyard
