#include "trainer/data/archive/gzip_cursor.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "common/error.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

namespace {

constexpr size_t kInput = 1 << 16;
constexpr uInt kWindow = 32768;
constexpr size_t kTrailer = 8;  // CRC-32 and length, RFC 1952
constexpr int kGzip = 15 + 16;  // inflateInit2's way of saying so
constexpr int kRaw = -15;
constexpr int kBlockEnd = 128;  // in data_type, as Z_BLOCK sets it
constexpr int kLastBlock = 64;
constexpr int kUnusedBits = 7;

}  // namespace

GzipCursor::GzipCursor(int fd, std::string path) : fd_(fd), path_(std::move(path)), input_(kInput) {}

GzipCursor::~GzipCursor() {
  if (made_) inflateEnd(&stream_);
}

void GzipCursor::refuse(const char* what) const {
  throw Error(Exit::data,
              path_ + " " + what + " at byte " + std::to_string(file_position()) + ". Copy or download it again");
}

void GzipCursor::reset(int window_bits) {
  const int result = made_ ? inflateReset2(&stream_, window_bits) : inflateInit2(&stream_, window_bits);
  if (result != Z_OK) throw std::bad_alloc();
  made_ = true;
  started_ = true;
  raw_ = window_bits < 0;
  ended_ = false;
  at_block_ = false;
}

GzipPoint GzipCursor::begin() {
  reset(kGzip);
  stream_.avail_in = 0;
  file_position_ = 0;
  position_ = 0;
  return {};
}

void GzipCursor::start(const GzipPoint& point) {
  if (point.out == 0) {
    begin();
    return;
  }
  reset(kRaw);
  stream_.avail_in = 0;
  file_position_ = point.in - (point.bits != 0 ? 1 : 0);
  position_ = point.out;
  if (point.bits != 0) {
    if (!refill()) refuse("was changed while it was in use, it ends");
    const int byte = static_cast<unsigned char>(*stream_.next_in);
    drop(1);
    inflatePrime(&stream_, point.bits, byte >> (8 - point.bits));
  }
  inflateSetDictionary(&stream_, reinterpret_cast<const Bytef*>(point.window.data()),
                       static_cast<uInt>(point.window.size()));
}

GzipPoint GzipCursor::point() const {
  GzipPoint point;
  point.out = position_;
  point.in = file_position();
  point.bits = stream_.data_type & kUnusedBits;
  point.window.resize(kWindow);
  uInt filled = 0;
  // It only copies; the stream is not changed.
  inflateGetDictionary(const_cast<z_stream*>(&stream_), reinterpret_cast<Bytef*>(point.window.data()), &filled);
  point.window.resize(filled);
  return point;
}

bool GzipCursor::refill() {
  if (stream_.avail_in > 0) return true;
  const size_t got = read_at(fd_, file_position_, input_.data(), input_.size(), path_);
  file_position_ += got;
  stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
  stream_.avail_in = static_cast<uInt>(got);
  return got > 0;
}

void GzipCursor::drop(size_t count) {
  while (count > 0) {
    if (!refill()) refuse("ends early,");
    const size_t part = std::min<size_t>(count, stream_.avail_in);
    stream_.next_in += part;
    stream_.avail_in -= static_cast<uInt>(part);
    count -= part;
  }
}

/// Another member may follow; anything else is padding, which gzip itself leaves out too.
void GzipCursor::end_of_member() {
  if (raw_) drop(kTrailer);
  ended_ = true;
  at_block_ = false;
  if (!refill() || *stream_.next_in != 0x1f) return;
  reset(kGzip);
}

size_t GzipCursor::advance(char* out, size_t count) {
  if (ended_) return 0;
  if (!refill()) refuse("ends early,");
  stream_.next_out = reinterpret_cast<Bytef*>(out);
  stream_.avail_out = static_cast<uInt>(std::min<size_t>(count, std::numeric_limits<uInt>::max()));
  const uInt wanted = stream_.avail_out;
  const int result = inflate(&stream_, Z_BLOCK);
  const size_t got = wanted - stream_.avail_out;
  position_ += got;
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result == Z_STREAM_END) {
    end_of_member();
    return got;
  }
  if (result != Z_OK && result != Z_BUF_ERROR) refuse("is damaged before or");
  at_block_ = (stream_.data_type & kBlockEnd) != 0 && (stream_.data_type & kLastBlock) == 0;
  return got;
}

void GzipCursor::skip_to(uint64_t offset) {
  std::vector<char> unused(kInput);
  while (position_ < offset && !ended_) {
    advance(unused.data(), static_cast<size_t>(std::min<uint64_t>(unused.size(), offset - position_)));
  }
}

}  // namespace trainyard
