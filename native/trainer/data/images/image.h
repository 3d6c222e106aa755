// A decoded image, and the error that says why a file is not one.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "trainer/base/view.h"

namespace trainyard {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  ///< [height, width, 3] RGB
  /// Where only a part was decoded: its place in the whole, and the whole's size (0: what is there
  /// is the whole).
  int left = 0;
  int top = 0;
  int whole_width = 0;
  int whole_height = 0;
  /// How many times smaller than its file it was decoded: 1, 2, 4 or 8. The file's sides need not
  /// be multiples, so the last row and column may stand for less than a whole pixel.
  int shrink = 1;
  int file_width = 0;   ///< 0: width * shrink
  int file_height = 0;  ///< 0: height * shrink
  int decoded_width() const { return whole_width > 0 ? whole_width : width; }
  int decoded_height() const { return whole_height > 0 ? whole_height : height; }
  int full_width() const { return file_width > 0 ? file_width : decoded_width() * shrink; }
  int full_height() const { return file_height > 0 ? file_height : decoded_height() * shrink; }
};

constexpr int64_t kMostPixels = 100'000'000;  ///< of a file; more is refused before memory is taken

/// A file that is no readable image: `what()` says why, without the file's name.
class BadImage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace trainyard
