// Decoded images kept in memory, so that later epochs need neither disk nor decoder.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "trainer/data/image.h"

namespace trainyard {

/// Safe to use from many threads. Images stay until the cache goes.
class ImageCache {
 public:
  explicit ImageCache(size_t images) : images_(images) {}
  ImageCache(const ImageCache&) = delete;
  ImageCache& operator=(const ImageCache&) = delete;

  /// Nothing where the image is not kept.
  const Image* find(size_t index) const;

  /// Keeps a copy. Once the machine has less than an eighth of its memory to spare, no more images are taken in, and
  /// the rest is simply decoded each time: slower, with the same pixels, rather than a process killed for memory.
  void keep(size_t index, const Image& image);

 private:
  bool has_room(size_t bytes);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const Image>> images_;
  size_t unchecked_ = 0;  ///< bytes taken in since the machine's memory was last looked at
  bool full_ = false;
};

}  // namespace trainyard
