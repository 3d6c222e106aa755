// From an image's index to the pixels that the network sees.
#pragma once
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "trainer/data/augment.h"
#include "trainer/data/cache.h"
#include "trainer/data/image_decoder.h"
#include "trainer/data/resize.h"
#include "trainer/data/source.h"

namespace trainyard {

/// What all decoding threads of a loader share. Safe to use from many threads.
class ReaderState {
 public:
  ReaderState(const Dataset& data, const LoaderOptions& options);
  const Dataset& dataset() const { return dataset_; }
  int image_size() const { return image_size_; }
  Augment augment() const { return augment_; }
  uint64_t seed() const { return seed_; }
  int shorter_side() const { return shorter_side_needed(augment_, image_size_); }
  ImageCache* cache() { return cache_ ? &*cache_ : nullptr; }

  /// Why an image is known to be unreadable, so that later epochs need not try again.
  std::optional<std::string> failure(size_t index) const;
  void remember_failure(size_t index, const std::string& message);

 private:
  const Dataset& dataset_;
  int image_size_;
  Augment augment_;
  uint64_t seed_;
  std::optional<ImageCache> cache_;
  mutable std::mutex mutex_;
  std::unordered_map<size_t, std::string> failures_;
};

/// One thread's decoder with its scratch memory.
class Reader {
 public:
  /// whole: images are decoded whole even where nobody keeps them.
  explicit Reader(ReaderState& state, bool whole = false) : state_(state), whole_(whole || state.cache() != nullptr) {}

  /// Fills out [image_size, image_size, 3] with the view of image `index` that belongs to `epoch`. Returns why the
  /// image is unreadable (a file that cannot be read is as unreadable as a corrupt one), or nothing when all went well.
  std::optional<std::string> read(size_t index, int64_t epoch, uint8_t* out);

 private:
  /// The image and the view of it; without a cache only what the view looks at need be there.
  const Image& decode(size_t index, int64_t epoch, View& view);

  ReaderState& state_;
  bool whole_;
  ImageDecoder decoder_;
  Resizer resizer_;
  Image image_;
};

}  // namespace trainyard
