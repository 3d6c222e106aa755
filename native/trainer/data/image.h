// A decoded image, and the error that says why a file is not one.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace trainyard {

struct Image {
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  ///< [height, width, 3] RGB
};

/// A file that is no readable JPEG: `what()` says why, without the file's name.
class BadImage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace trainyard
