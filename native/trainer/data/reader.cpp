#include "trainer/data/reader.h"

#include "trainer/base/random.h"
#include "trainer/base/spare_memory.h"

namespace trainyard {

namespace {
constexpr uint64_t kViewTag = 0x76696577ULL;
}

ReaderState::ReaderState(const Dataset& data, const LoaderOptions& options)
    : dataset_(data), image_size_(options.image_size), augment_(options.augment), seed_(options.seed) {
  if (!options.cache) return;
  const auto machine = [] { return spare_memory(); };
  cache_.emplace(data.size(), options.spare_memory ? options.spare_memory : machine);
}

std::optional<std::string> ReaderState::failure(size_t index) const {
  const std::lock_guard lock(mutex_);
  const auto found = failures_.find(index);
  if (found == failures_.end()) return std::nullopt;
  return found->second;
}

void ReaderState::remember_failure(size_t index, const std::string& message) {
  const std::lock_guard lock(mutex_);
  failures_.emplace(index, message);
}

const Image& Reader::decode(size_t index, int64_t epoch, View& view) {
  const auto plan = [&](int width, int height) {
    Random random({state_.seed(), static_cast<uint64_t>(epoch), index, kViewTag});
    view = plan_view(state_.augment(), state_.image_size(), width, height, random);
    return looked_at(view);
  };
  ImageCache* cache = state_.cache();
  const Image* image = cache != nullptr ? cache->find(index) : nullptr;
  if (image == nullptr) {
    decoder_.decode(state_.dataset().encoded(index), state_.shorter_side(),
                    whole_ ? JpegDecoder::Part{} : JpegDecoder::Part{plan}, image_);
    if (cache != nullptr) cache->keep(index, image_);
    image = &image_;
  }
  plan(image->full_width(), image->full_height());
  return *image;
}

std::optional<std::string> Reader::read(size_t index, int64_t epoch, uint8_t* out) {
  if (state_.dataset().pixels(index, state_.image_size(), out)) return std::nullopt;
  if (auto known = state_.failure(index)) return known;
  std::string message;
  try {
    View view;
    const Image& image = decode(index, epoch, view);
    resizer_.resize(image, view, out);
    return std::nullopt;
  } catch (const BadImage& error) {
    message = error.what();
  }
  state_.remember_failure(index, message);
  return message;
}

}  // namespace trainyard
