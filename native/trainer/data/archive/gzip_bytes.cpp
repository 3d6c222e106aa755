#include "trainer/data/archive/gzip_bytes.h"

#include <algorithm>
#include <utility>

#include "trainer/data/archive/gzip_cursor.h"

namespace trainyard {

namespace {

constexpr size_t kMostPoints = 1024;
constexpr uint64_t kLeastSpan = uint64_t{1} << 20;
constexpr uint64_t kSayEvery = uint64_t{8} << 20;

}  // namespace

GzipBytes::GzipBytes(Descriptor fd, std::string path, uint64_t file_size, const ArchiveProgress& progress)
    : fd_(std::move(fd)), path_(std::move(path)), file_size_(file_size), span_(kLeastSpan) {
  scan(progress);
}

GzipBytes::~GzipBytes() = default;

void GzipBytes::keep_point(GzipPoint point) {
  points_.push_back(std::move(point));
  if (points_.size() <= kMostPoints) return;
  // Every second one goes, so that memory stays bounded however much there is.
  size_t kept = 0;
  for (size_t i = 0; i < points_.size(); i += 2) {
    if (i != kept) points_[kept] = std::move(points_[i]);
    ++kept;
  }
  points_.resize(kept);
  span_ *= 2;
}

void GzipBytes::scan(const ArchiveProgress& progress) {
  GzipCursor cursor(fd_.get(), path_);
  std::vector<char> unused(1 << 16);
  uint64_t said = 0;
  keep_point(cursor.begin());
  for (;;) {
    cursor.advance(unused.data(), unused.size());
    if (cursor.ended()) break;
    if (cursor.at_block() && cursor.position() >= points_.back().out + span_) keep_point(cursor.point());
    if (progress && cursor.file_position() >= said + kSayEvery) {
      said = cursor.file_position();
      progress(static_cast<int64_t>(said), static_cast<int64_t>(file_size_));
    }
  }
  size_ = cursor.position();
  if (progress) progress(static_cast<int64_t>(file_size_), static_cast<int64_t>(file_size_));
}

/// The idle cursor that is nearest before `offset`, or one at the last point before it.
std::unique_ptr<GzipCursor> GzipBytes::take(uint64_t offset) const {
  auto after = std::upper_bound(points_.begin(), points_.end(), offset,
                                [](uint64_t wanted, const GzipPoint& point) { return wanted < point.out; });
  const GzipPoint& point = *std::prev(after);  // the first one is at 0
  std::unique_ptr<GzipCursor> cursor;
  {
    const std::lock_guard lock(mutex_);
    auto best = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if ((*it)->position() > offset) continue;
      if (best == idle_.end() || (*it)->position() > (*best)->position()) best = it;
    }
    if (best == idle_.end() && !idle_.empty()) best = idle_.begin();
    if (best != idle_.end()) {
      cursor = std::move(*best);
      idle_.erase(best);
    }
  }
  if (!cursor) cursor = std::make_unique<GzipCursor>(fd_.get(), path_);
  if (cursor->position() > offset || cursor->position() < point.out || !cursor->started()) cursor->start(point);
  return cursor;
}

size_t GzipBytes::read(uint64_t offset, char* out, size_t count) const {
  if (offset >= size_) return 0;
  count = static_cast<size_t>(std::min<uint64_t>(count, size_ - offset));
  auto cursor = take(offset);
  cursor->skip_to(offset);
  size_t filled = 0;
  while (filled < count && !cursor->ended()) filled += cursor->advance(out + filled, count - filled);
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(cursor));
  return filled;
}

}  // namespace trainyard
