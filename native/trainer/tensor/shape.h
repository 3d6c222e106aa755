// The logical shape of an activation: always four numbers, whatever layout the memory has.
#pragma once
#include <cstdint>
#include <string>

namespace trainyard {

/// [n, c, h, w]. A vector per image (a linear layer's input or output) is [n, c, 1, 1].
struct Shape {
  int n = 0;
  int c = 0;
  int h = 1;
  int w = 1;

  int64_t pixels() const { return int64_t{h} * w; }
  int64_t elements() const { return int64_t{n} * c * h * w; }
  bool operator==(const Shape&) const = default;
};

/// "32x16x8x8", for messages.
std::string to_string(const Shape& shape);

}  // namespace trainyard
