// Sums of tensors, and over the rows of a matrix.
#pragma once
#include "trainer/ops/cuda/blocks.h"
#include "trainer/ops/cuda/math/wide.h"

namespace trainyard::cuda {

/// Index = 16 bytes of elements.
template <class T>
struct AddToWide {
  T* to;
  const T* from;
  TRAINYARD_HD void operator()(unsigned index) const {
    const size_t at = size_t{index} * kWide<T>;
    const Wide<T> before = load_wide(to + at);
    const Wide<T> more = load_wide(from + at);
    float sum[kWide<T>];
    TRAINYARD_UNROLL
    for (unsigned v = 0; v < kWide<T>; ++v) sum[v] = before[v] + more[v];
    store_wide(to + at, Wide<T>::of(sum));
  }
};

/// A block sums 32 columns in double: eight threads share a column's rows.
template <class T>
struct ColumnSumsBlock {
  static constexpr int kPhases = 2;
  static constexpr unsigned kResident = 4;
  static constexpr unsigned kColumns = 32;
  static constexpr unsigned kSharers = kBlockThreads / kColumns;
  struct Shared {
    double sums[kBlockThreads];
  };
  struct Thread {};

  const T* from;  // [rows, columns]
  float* to;      // [columns]
  unsigned rows, columns;

  static size_t blocks(unsigned columns) { return (columns + kColumns - 1) / kColumns; }

  template <int phase>
  TRAINYARD_HD void run(unsigned block, unsigned thread, Thread&, Shared& shared) const {
    const unsigned column = block * kColumns + thread % kColumns;
    if constexpr (phase == 0) {
      double sum = 0;
      if (column < columns) {
        for (unsigned r = thread / kColumns; r < rows; r += kSharers) {
          sum += static_cast<float>(from[static_cast<size_t>(r) * columns + column]);
        }
      }
      shared.sums[thread] = sum;
    } else if (thread < kColumns && column < columns) {
      double sum = 0;
      for (unsigned i = 0; i < kSharers; ++i) sum += shared.sums[i * kColumns + thread];
      to[column] = static_cast<float>(sum);
    }
  }
};

}  // namespace trainyard::cuda
