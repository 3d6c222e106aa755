#include "trainer/comm/everyones_group.h"

#include <algorithm>
#include <bit>

#include "common/process.h"

namespace trainyard {

DeviceGroup everyones_group(Communicator& ranks, const std::function<DeviceGroupId()>& make) {
  // Copied as they are, numbers are as good as bytes.
  using Numbers = std::array<double, sizeof(DeviceGroupId) / sizeof(double)>;
  const auto numbers = std::bit_cast<Numbers>(ranks.rank() == 0 ? make() : DeviceGroupId{});
  const std::vector<double> all = ranks.gather(std::span<const double>(numbers));
  Numbers first{};
  std::copy_n(all.begin(), first.size(), first.begin());
  return {
      .id = std::bit_cast<DeviceGroupId>(first),
      .rank = ranks.rank(),
      .world = ranks.world(),
      .narrow_sums = ranks.sum_type() == SumType::bf16,
      .who = "rank " + std::to_string(ranks.rank()) + " of " + std::to_string(ranks.world()) + " on " + host_name()};
}

}  // namespace trainyard
