#include "trainer/train/plan/same_data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "trainer/base/name_key.h"

namespace trainyard {

namespace {

constexpr uint64_t kPrime = 0x100000001b3ULL;

uint64_t key_of(const Dataset& dataset) {
  uint64_t key = 0;
  for (const std::string& name : dataset.class_names()) key = (key ^ name_key(name)) * kPrime;
  for (size_t i = 0; i < dataset.size(); ++i) {
    const std::string name = dataset.name(i);
    key = (key ^ name_key(std::string_view(name).substr(name.rfind('/') + 1))) * kPrime;
    key = (key ^ static_cast<uint64_t>(dataset.label(i))) * kPrime;
    for (const Box& box : dataset.boxes(i)) {
      for (const float side : {box.xmin, box.ymin, box.xmax, box.ymax}) {
        key = (key ^ std::bit_cast<uint32_t>(side)) * kPrime;
      }
    }
  }
  return key;
}

std::string counted(double images, double classes) {
  return std::to_string(static_cast<int64_t>(images)) + " images of " + std::to_string(static_cast<int64_t>(classes)) +
         " classes";
}

}  // namespace

void require_same_data(const Dataset& dataset, const std::string& spec, Communicator& workers) {
  if (workers.world() == 1) return;
  const uint64_t key = key_of(dataset);
  // The key as two numbers that a double has exactly.
  const std::array<double, 4> own{static_cast<double>(dataset.size()),
                                  static_cast<double>(dataset.class_names().size()), static_cast<double>(key >> 32),
                                  static_cast<double>(key & 0xffffffffULL)};
  const std::vector<double> all = workers.gather(own);
  for (size_t rank = 1; rank < static_cast<size_t>(workers.world()); ++rank) {
    const double* other = all.data() + rank * own.size();
    if (std::equal(other, other + own.size(), all.data())) continue;
    const bool same_counts = other[0] == all[0] && other[1] == all[1];
    throw Error(Exit::data, "rank " + std::to_string(rank) + " and rank 0 do not read the same data in " + spec +
                                ": they have " + counted(other[0], other[1]) + " and " + counted(all[0], all[1]) +
                                (same_counts ? ", with other names or labels, or other bounding boxes" : "") +
                                ". Give every node the same data, for example by staging it again");
  }
}

}  // namespace trainyard
