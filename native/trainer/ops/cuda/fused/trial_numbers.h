// Numbers on which a kernel is checked, and how near its results have to be.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trainer/tensor/dtype.h"

namespace trainyard::cuda {

/// Random numbers of either sign between 0.5 and 1, the same for the same seed.
std::vector<BFloat16> trial_numbers(size_t count, uint32_t seed);

/// Those numbers in double.
std::vector<double> widened(const std::vector<BFloat16>& numbers);

/// The largest error of a sum in fp32 of `count` products of such numbers. Every partial sum is
/// below `count`, and an addition errs by less than 2^-23 of the largest partial sum: tensor cores
/// cut off instead of rounding (Fasi et al. 2021, "Numerical behavior of NVIDIA tensor cores").
double product_error(size_t count);

/// Whether `stored` is `exact`, less an error before rounding of `error`, within a step of bf16.
bool is_near(BFloat16 stored, double exact, double error);

/// Sums over the rows of a matrix, of each column.
struct ColumnTotals {
  std::vector<double> sums, sizes, squares;  ///< of its numbers, of their absolute values, of their squares

  /// Of the first `rows` of [rows, columns].
  static ColumnTotals of(const std::vector<BFloat16>& matrix, size_t rows, size_t columns);
};

/// "" where `partial` [2, partial_rows, columns] adds up to a matrix's sums and squares. each: so
/// many numbers a partial sum has at most. A sum of n numbers in fp32 errs by at most n 2^-24 of
/// their absolute values' sum (Higham 2002, "Accuracy and stability of numerical algorithms",
/// section 4.2), so all partial sums of a column err by at most `each` 2^-24 of that of the column.
std::string check_column_sums(const ColumnTotals& totals, const std::vector<float>& partial, size_t partial_rows,
                              size_t each);

/// "row 3, column 5 of d is 1.5 instead of 1.25".
std::string differs(const std::string& place, double found, double wanted);

}  // namespace trainyard::cuda
