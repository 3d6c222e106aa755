// The numbers that scripts/oracle/formula.py computes for PyTorch, to the last bit: weights,
// images, labels and signs.
#pragma once
#include <array>
#include <cmath>
#include <span>
#include <string>

#include "tests/models/support.h"
#include "trainer/base/name_key.h"

namespace trainyard::test {

/// The next multiple of 2^-15 in [-1, 1).
inline float unit(Random& random) {
  return static_cast<float>(static_cast<int64_t>(random.next() >> 48) - 32768) * 0x1p-15F;
}

/// Weights of He's variance, scales near 1, small biases.
inline void fill_by_formula(const TensorInfo& info, std::span<float> values) {
  Random random{name_key(info.name)};
  // Inception's are five deviations away from zero: see formula.py.
  const bool calm = info.name.find(".bn.") != std::string::npos;
  const bool scale_of_norm =
      (info.name.find("bn") != std::string::npos || info.name.find("downsample.1") != std::string::npos) &&
      info.name.ends_with("weight");
  for (float& value : values) {
    const float drawn = unit(random);
    if (info.shape.size() == 4) {
      const auto fan = static_cast<double>(info.shape[0] * info.shape[2] * info.shape[3]);
      value = drawn * static_cast<float>(std::sqrt(6.0 / fan));
    } else if (info.shape.size() == 2) {
      value = drawn * static_cast<float>(1.0 / std::sqrt(static_cast<double>(info.shape[1])));
    } else if (calm) {
      value = scale_of_norm ? drawn * 0.03125F + 0.25F : drawn * 0.125F + (drawn < -0.5F ? -1.25F : 1.25F);
    } else {
      value = drawn * 0.125F + (scale_of_norm ? 1.0F : 0.0F);
    }
  }
}

/// Stripes of every direction with noise on top.
inline RandomBatch stripes_by_formula(int count, int size, int classes, uint64_t salt) {
  RandomBatch batch(0, size, classes, 0);
  batch.count = count;
  batch.images.resize(static_cast<size_t>(count) * size * size * 3);
  batch.labels.resize(static_cast<size_t>(count));
  Random slopes{name_key("slopes"), salt};
  Random noise{name_key("noise"), salt};
  Random labels{name_key("labels")};
  size_t at = 0;
  for (int n = 0; n < count; ++n) {
    std::array<uint64_t, 9> slope{};
    for (auto& number : slope) number = slopes.next() >> 33;
    for (uint64_t y = 0; y < static_cast<uint64_t>(size); ++y) {
      for (uint64_t x = 0; x < static_cast<uint64_t>(size); ++x) {
        for (size_t c = 0; c < 3; ++c) {
          const uint64_t value = slope[3 * c] % 256 + slope[3 * c + 1] % 13 * x + slope[3 * c + 2] % 13 * y;
          batch.images[at++] = static_cast<uint8_t>((value + (noise.next() >> 59)) % 256);
        }
      }
    }
  }
  for (auto& label : batch.labels) {
    label = static_cast<int32_t>((labels.next() >> 33) % static_cast<uint64_t>(classes));
  }
  return batch;
}

/// Pieces of `tile` pixels a side, repeated.
inline RandomBatch batch_by_formula(int count, int size, int classes, uint64_t salt, int tile) {
  RandomBatch piece = stripes_by_formula(count, tile, classes, salt);
  if (tile == size) return piece;
  RandomBatch batch(0, size, classes, 0);
  batch.count = count;
  batch.labels = piece.labels;
  for (int n = 0; n < count; ++n) {
    for (int y = 0; y < size; ++y) {
      for (int x = 0; x < size; ++x) {
        const size_t from = ((static_cast<size_t>(n) * tile + y % tile) * tile + x % tile) * 3;
        for (size_t c = 0; c < 3; ++c) batch.images.push_back(piece.images[from + c]);
      }
    }
  }
  return batch;
}

inline constexpr size_t kProjections = 64;

/// Sums of `values` under fixed patterns of signs.
inline std::array<double, kProjections> projections(const std::string& name, std::span<const float> values) {
  std::array<double, kProjections> sums{};
  Random random{name_key(name), 1};
  for (const float value : values) {
    const uint64_t bits = random.next();
    for (size_t j = 0; j < kProjections; ++j) sums[j] += ((bits >> j) & 1) != 0 ? -double{value} : double{value};
  }
  return sums;
}

}  // namespace trainyard::test
