// Decoded images kept in memory, so that later epochs need neither disk nor decoder.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trainer/data/images/image.h"
#include "trainer/data/source.h"

namespace trainyard {

/// Safe to use from many threads. Images stay until the cache goes.
class ImageCache {
 public:
  /// spare: bytes that may still be taken, now.
  ImageCache(size_t images, std::function<uint64_t()> spare) : images_(images), spare_(std::move(spare)) {}
  ImageCache(const ImageCache&) = delete;
  ImageCache& operator=(const ImageCache&) = delete;

  /// Nothing where the image is not kept.
  const Image* find(size_t index) const;

  /// Keeps a copy. Once there is no memory to spare, no more images are taken in, and the rest is
  /// simply decoded each time: slower, with the same pixels, rather than a process killed for
  /// memory.
  void keep(size_t index, const Image& image);

  /// A line for people, once: when all images are kept but the `unreadable` ones, or no more can
  /// be. Says what they take.
  std::optional<std::string> summary_once(size_t unreadable);
  uint64_t spare() const { return spare_(); }

 private:
  bool has_room(size_t bytes);

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<const Image>> images_;
  std::function<uint64_t()> spare_;
  size_t kept_ = 0;
  uint64_t bytes_ = 0;
  uint64_t allowance_ = 0;  ///< bytes that may be taken in before the memory is looked at again
  bool full_ = false;
  bool told_ = false;
};

/// Bytes that the decoded images of a set will take, from the headers of some that are spread over
/// it; 0 where nothing is decoded or can be read. shorter_side: as JpegDecoder takes it.
uint64_t estimate_cache(const Dataset& dataset, int shorter_side);

/// A line for people that says so beside the memory there is to spare; empty where nothing is
/// decoded.
std::string cache_forecast(const Dataset& dataset, int shorter_side, uint64_t spare, int world);

/// "12.3 GB": decimal, as memory is sold.
std::string in_bytes(uint64_t bytes);

}  // namespace trainyard
