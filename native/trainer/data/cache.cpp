#include "trainer/data/cache.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>

#include "common/error.h"
#include "trainer/data/images/image_header.h"
#include "trainer/data/images/jpeg.h"

namespace trainyard {

namespace {

constexpr uint64_t kCheckEvery = uint64_t{64} << 20;
constexpr size_t kLookedAt = 64;  // images, for an estimate

/// Of the pixels of one image; nothing where it cannot be read.
std::optional<uint64_t> decoded_bytes(const Dataset& dataset, size_t index, int shorter_side) {
  try {
    const ImageHeader header = read_image_header(dataset.encoded(index));
    const int by = header.format == "JPEG" ? jpeg_shrink(header.width, header.height, shorter_side) : 1;
    return uint64_t{3} * static_cast<uint64_t>((header.width + by - 1) / by) *
           static_cast<uint64_t>((header.height + by - 1) / by);
  } catch (const BadImage&) {
    return std::nullopt;  // named when its turn comes
  } catch (const Error&) {
    return std::nullopt;  // the same
  }
}

}  // namespace

const Image* ImageCache::find(size_t index) const {
  const std::lock_guard lock(mutex_);
  return images_[index].get();
}

bool ImageCache::has_room(size_t bytes) {
  if (full_) return false;
  if (bytes > allowance_) allowance_ = std::min(spare_(), std::max<uint64_t>(kCheckEvery, bytes));
  full_ = bytes > allowance_;
  if (!full_) allowance_ -= bytes;
  return !full_;
}

void ImageCache::keep(size_t index, const Image& image) {
  const std::lock_guard lock(mutex_);
  if (images_[index] || !has_room(image.pixels.size())) return;
  images_[index] = std::make_unique<const Image>(image);
  ++kept_;
  bytes_ += image.pixels.size();
}

std::optional<std::string> ImageCache::summary_once(size_t unreadable) {
  const std::lock_guard lock(mutex_);
  if (told_ || (!full_ && kept_ + unreadable < images_.size())) return std::nullopt;
  told_ = true;
  const std::string kept = std::to_string(kept_) + " of " + std::to_string(images_.size()) +
                           " decoded images are kept in memory and take " + in_bytes(bytes_);
  return full_ ? kept + "; there is no memory to spare for more, so the others are decoded each time" : kept;
}

uint64_t estimate_cache(const Dataset& dataset, int shorter_side) {
  uint64_t sum = 0;
  uint64_t read = 0;
  const size_t count = std::min(dataset.size(), kLookedAt);
  for (size_t i = 0; i < count; ++i) {
    const auto bytes = decoded_bytes(dataset, i * dataset.size() / count, shorter_side);
    sum += bytes.value_or(0);
    read += bytes ? 1 : 0;
  }
  return read == 0 ? 0 : sum * dataset.size() / read;
}

std::string cache_forecast(const Dataset& dataset, int shorter_side, uint64_t spare, int world) {
  const uint64_t bytes = estimate_cache(dataset, shorter_side);
  if (bytes == 0) return "";
  std::string line = "the " + std::to_string(dataset.size()) + " decoded images take about " + in_bytes(bytes) +
                     " in memory" + (world > 1 ? " of each rank" : "");
  if (spare != std::numeric_limits<uint64_t>::max()) line += "; " + in_bytes(spare) + " are to spare";
  if (bytes > spare) line += ": as many as fit are kept, the others are decoded each time";
  return line;
}

std::string in_bytes(uint64_t bytes) {
  double value = static_cast<double>(bytes) / 1000;
  const char* unit = "kB";
  for (const char* larger : {"MB", "GB"}) {
    if (value < 1000) break;
    value /= 1000;
    unit = larger;
  }
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, unit);
  return text.data();
}

}  // namespace trainyard
