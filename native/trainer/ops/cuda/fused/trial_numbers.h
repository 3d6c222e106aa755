// Numbers on which a kernel is checked, and how near its results have to be.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

// T: BFloat16 or Float16.

/// Random numbers of either sign between 0.5 and 1, the same for the same seed.
template <class T>
std::vector<T> trial_numbers(size_t count, uint32_t seed);

/// Those numbers in double.
template <class T>
std::vector<double> widened(const std::vector<T>& numbers);

/// The largest error of a sum in fp32 of `count` products of such numbers. Every partial sum is
/// below `count`, and an addition errs by less than 2^-23 of the largest partial sum: tensor cores
/// cut off instead of rounding (Fasi et al. 2021, "Numerical behavior of NVIDIA tensor cores").
double product_error(size_t count);

/// Whether `stored` is `exact`, less an error before rounding of `error`, within a step of T.
template <class T>
bool is_near(T stored, double exact, double error);

/// What the columns of a matrix add up to, and their absolute values.
struct ColumnTotals {
  std::vector<double> sums, sizes;

  explicit ColumnTotals(size_t columns) : sums(columns), sizes(columns) {}
  void add(size_t column, double value) {
    sums[column] += value;
    sizes[column] += value < 0 ? -value : value;
  }
};

/// "" where `partial` [partial_rows, columns] adds up to `totals`. what: "the sum of squares". each:
/// so many numbers a partial sum has at most. A sum of n numbers in fp32 errs by at most n 2^-24 of
/// their absolute values' sum (Higham 2002, "Accuracy and stability of numerical algorithms",
/// section 4.2), so all partial sums of a column err by at most `each` 2^-24 of that of the column.
std::string check_column_sums(const std::string& what, const ColumnTotals& totals, const float* partial,
                              size_t partial_rows, size_t each);

/// "row 3, column 5 of d is 1.5 instead of 1.25".
std::string differs(const std::string& place, double found, double wanted);

}  // namespace trainyard::cuda
