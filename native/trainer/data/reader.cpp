#include "trainer/data/reader.h"

#include "trainer/base/random.h"
#include "trainer/base/spare_memory.h"
#include "trainer/data/images/plain_jpeg.h"

namespace trainyard {

namespace {
constexpr uint64_t kViewTag = 0x76696577ULL;
constexpr uint64_t kPixelTag = 0x706978656cULL;
}  // namespace

ReaderState::ReaderState(const Dataset& data, const LoaderOptions& options)
    : dataset_(data),
      image_size_(options.image_size),
      resize_(options.resize),
      augment_(options.augment),
      min_object_covered_(options.min_object_covered),
      random_erasing_(options.random_erasing),
      as_torchvision_(options.as_torchvision),
      seed_(options.seed),
      patience_(options.retry_seconds, options.on_retry) {
  if (!options.cache) {
    make_device_jpeg_ = options.make_device_jpeg;
    return;
  }
  const auto machine = [] { return spare_memory(); };
  cache_.emplace(data.size(), options.spare_memory ? options.spare_memory : machine);
}

std::string ReaderState::encoded(size_t index) {
  return patience_.read([&] { return dataset_.encoded(index); });
}

std::unique_ptr<DeviceJpeg> ReaderState::make_device_jpeg() const {
  return make_device_jpeg_ ? make_device_jpeg_() : nullptr;
}

View Reader::view_of(size_t index, int64_t number, int width, int height) const {
  Random random({state_.seed(), static_cast<uint64_t>(number), index, kViewTag});
  Objects objects{.boxes = {}, .min_covered = state_.min_object_covered()};
  if (objects.min_covered > 0) objects.boxes = state_.dataset().boxes(index);
  return plan_view(state_.augment(), state_.view_size(), width, height, random, objects);
}

const Image& Reader::decode(std::string_view file, size_t index, int64_t number) {
  const auto part = [&](int width, int height) { return looked_at(view_of(index, number, width, height)); };
  decoder_.decode(file, state_.shorter_side(), whole_ ? JpegDecoder::Part{} : JpegDecoder::Part{part}, image_);
  return image_;
}

bool Reader::read_on_device(std::string_view file, size_t index, int64_t number, uint8_t* out) {
  if (!device_) return false;
  const auto size = plain_jpeg(file);
  if (!size) return false;
  return device_->read(file, size->width, size->height, view_of(index, number, size->width, size->height), out);
}

void Reader::read_view(size_t index, int64_t number, uint8_t* out) {
  ImageCache* cache = state_.cache();
  const Image* image = cache != nullptr ? cache->find(index) : nullptr;
  if (image == nullptr) {
    const std::string file = state_.encoded(index);
    if (read_on_device(file, index, number, out)) return;
    image = &decode(file, index, number);
    if (cache != nullptr) cache->keep(index, *image);
  }
  const View view = view_of(index, number, image->full_width(), image->full_height());
  if (state_.as_torchvision()) return pil_resizer_.resize(*image, view, out);
  resizer_.resize(*image, view, out);
}

void Reader::change_pixels(size_t index, int64_t number, uint8_t* out) {
  const int size = state_.image_size();
  Random random({state_.seed(), static_cast<uint64_t>(number), index, kPixelTag});
  if (state_.augment() == Augment::trivial) changer_.apply(draw_pixel_change(random), size, out);
  if (state_.random_erasing() > 0) erase_randomly(state_.random_erasing(), size, random, out);
}

std::optional<std::string> Reader::read(size_t index, int64_t number, uint8_t* out) {
  if (state_.dataset().pixels(index, state_.image_size(), out)) return std::nullopt;
  // Nothing is remembered of an image that was unreadable: damage below a view is no matter to that
  // view, and what a view becomes must not depend on the views before.
  try {
    read_view(index, number, out);
    change_pixels(index, number, out);
    return std::nullopt;
  } catch (const BadImage& error) {
    return error.what();
  }
}

}  // namespace trainyard
