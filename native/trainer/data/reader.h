// From an image's index to the pixels that the network sees.
#pragma once
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "trainer/base/device_jpeg.h"
#include "trainer/data/cache.h"
#include "trainer/data/images/image_decoder.h"
#include "trainer/data/patience.h"
#include "trainer/data/pixels/augment.h"
#include "trainer/data/pixels/pil_resize.h"
#include "trainer/data/pixels/resize.h"
#include "trainer/data/pixels/trivial_augment.h"
#include "trainer/data/source.h"

namespace trainyard {

/// What all decoding threads of a loader share. Safe to use from many threads.
class ReaderState {
 public:
  ReaderState(const Dataset& data, const LoaderOptions& options);
  const Dataset& dataset() const { return dataset_; }
  int image_size() const { return image_size_; }
  ViewSize view_size() const { return {image_size_, resize_}; }
  Augment augment() const { return augment_; }
  double min_object_covered() const { return min_object_covered_; }
  double random_erasing() const { return random_erasing_; }
  uint64_t seed() const { return seed_; }
  bool as_torchvision() const { return as_torchvision_; }
  /// As JpegDecoder takes it.
  int shorter_side() const {
    return as_torchvision_ ? std::numeric_limits<int>::max() : shorter_side_needed(augment_, image_size_);
  }
  ImageCache* cache() { return cache_ ? &*cache_ : nullptr; }
  /// A new one for the thread that calls. nullptr where the host decodes, as it does what a cache
  /// is to keep.
  std::unique_ptr<DeviceJpeg> make_device_jpeg() const;

  /// The image's file. Throws as Dataset::encoded, after some patience with disks.
  std::string encoded(size_t index);
  /// Reads that fail now are not tried again.
  void stop() { patience_.end(); }

 private:
  const Dataset& dataset_;
  int image_size_;
  int resize_;
  Augment augment_;
  double min_object_covered_;
  double random_erasing_;
  bool as_torchvision_;
  uint64_t seed_;
  std::optional<ImageCache> cache_;
  MakeDeviceJpeg make_device_jpeg_;
  Patience patience_;
};

/// One thread's decoder with its scratch memory.
class Reader {
 public:
  /// whole: images are decoded whole even where nobody keeps them.
  explicit Reader(ReaderState& state, bool whole = false)
      : state_(state), whole_(whole || state.cache() != nullptr), device_(state.make_device_jpeg()) {}

  /// Fills out [image_size, image_size, 3] with view `number` of image `index` (Part::view).
  /// Returns why the image is unreadable (damaged, of another format, no longer there), or nothing
  /// when all went well. Throws Error where the disk or its server fails for longer than
  /// LoaderOptions::retry_seconds.
  std::optional<std::string> read(size_t index, int64_t number, uint8_t* out);

 private:
  View view_of(size_t index, int64_t number, int width, int height) const;
  /// Without a cache only what the view looks at need be there.
  const Image& decode(std::string_view file, size_t index, int64_t number);
  /// Whether the device takes this file.
  bool read_on_device(std::string_view file, size_t index, int64_t number, uint8_t* out);
  void read_view(size_t index, int64_t number, uint8_t* out);
  /// What comes after crop and flip.
  void change_pixels(size_t index, int64_t number, uint8_t* out);

  ReaderState& state_;
  bool whole_;
  std::unique_ptr<DeviceJpeg> device_;
  ImageDecoder decoder_;
  Resizer resizer_;
  PilResizer pil_resizer_;
  PixelChanger changer_;
  Image image_;
};

}  // namespace trainyard
