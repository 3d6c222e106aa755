// Every op of a back end against another's, on random numbers: what to run first on a machine with
// a new device.
#pragma once
#include <string>
#include <vector>

#include "trainer/ops/contract/backend.h"

namespace trainyard {

struct SelftestRow {
  std::string op;        ///< "conv2d 2x64x14x14 to 128 by 3x3/2"
  std::string quantity;  ///< "y", "dx", …
  double error = 0;      ///< |tested - reference| / |reference| over all elements; NaN where a number is none
  double bound = 0;
  bool ok() const { return error <= bound; }  // false for NaN
};

/// Runs every op of the contract on both back ends, in each type that the tested one stores (the
/// reference in fp32, on the same numbers), and its products in TF32 where it has that; it stays
/// allowed afterwards. Outputs are poisoned first, so that an element nobody writes fails.
std::vector<SelftestRow> selftest(Backend& tested, Backend& reference);

/// Sums and copies in a group of this device alone: what they leave is what was there, in order
/// with the copies to and from the host. Once a back end.
std::vector<SelftestRow> selftest_collectives(Backend& tested);

}  // namespace trainyard
