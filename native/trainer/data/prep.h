// `trainer prep`: a labelled image folder that needs no download.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

struct PrepOptions {
  std::string from;         ///< demo:CLASSESxIMAGES_EACH, 2 to 8 classes
  std::string to;           ///< the folder to make; it may exist if it is empty
  double validation = 0.2;  ///< the part of each class's images that validates, 0 (none) to below 1
  int image_size = 64;      ///< pixels a side, 16 to 1024
  uint64_t seed = 1;
  int threads = 0;  ///< 0: as many as the machine has
  /// Images written so far, and how many there will be. Called from the writing threads, one at a time.
  std::function<void(int64_t done, int64_t total)> progress;
};

struct PrepSummary {
  std::vector<std::string> class_names;  ///< in the order a data set lists them
  int64_t train_images = 0;
  int64_t validation_images = 0;
  int64_t bytes = 0;
  double seconds = 0;
};

/// Writes to/train/<class>/0001.jpg … and to/validation/<class>/0001.jpg …: simple shapes of random place, size, turn,
/// colour and light on cluttered, noisy grounds. Every image depends on seed, class and number only. Of each class
/// round(images * validation) validate, but at least one trains. Works in `to`.partial, which is renamed at the end and
/// removed on failure; one left over from before is removed first.
/// Throws Error(Exit::usage): a malformed `from`, options out of range, `to` exists and is not an empty folder.
/// Throws Error(Exit::data): a file could not be written (path and reason named).
PrepSummary prep(const PrepOptions& options);

}  // namespace trainyard
