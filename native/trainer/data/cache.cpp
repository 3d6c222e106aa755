#include "trainer/data/cache.h"

#include <fstream>
#include <string>

namespace trainyard {

namespace {

constexpr size_t kCheckEvery = size_t{64} << 20;

/// From /proc/meminfo. Where it cannot be read there is no ground to stop.
bool machine_has_memory() {
  std::ifstream file("/proc/meminfo");
  double total = 0;
  double available = -1;
  std::string key;
  std::string unit;
  for (double value = 0; file >> key >> value; std::getline(file, unit)) {
    if (key == "MemTotal:") total = value;
    if (key == "MemAvailable:") available = value;
  }
  return available < 0 || available * 8 >= total;
}

}  // namespace

const Image* ImageCache::find(size_t index) const {
  const std::lock_guard lock(mutex_);
  return images_[index].get();
}

bool ImageCache::has_room(size_t bytes) {
  if (full_) return false;
  unchecked_ += bytes;
  if (unchecked_ < kCheckEvery) return true;
  unchecked_ = 0;
  full_ = !machine_has_memory();
  return !full_;
}

void ImageCache::keep(size_t index, const Image& image) {
  const std::lock_guard lock(mutex_);
  if (images_[index] || !has_room(image.pixels.size())) return;
  images_[index] = std::make_unique<const Image>(image);
}

}  // namespace trainyard
