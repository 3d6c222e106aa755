// A second rank that needs no process.
#pragma once
#include <vector>

#include "trainer/models/network.h"

namespace trainyard::test {

/// Two ranks that see the same batch: every sum doubles, and so does the count.
class Twin final : public StatisticsReducer {
 public:
  void sum(double* values, size_t count) override {
    for (size_t i = 0; i < count; ++i) values[i] *= 2;
    counts.push_back(count);
  }
  int world() const override { return 2; }
  std::vector<size_t> counts;
};

}  // namespace trainyard::test
