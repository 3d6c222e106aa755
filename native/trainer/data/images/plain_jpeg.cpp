#include "trainer/data/images/plain_jpeg.h"

#include <cstddef>
#include <cstdint>

namespace trainyard {

namespace {

constexpr int kMostSide = 16'384;            // of the engines in GPUs
constexpr int64_t kMostPixels = 32'000'000;  // 96 MB of a device's memory for each thread

// Markers, ITU-T T.81, table B.1.
constexpr uint8_t kBaseline = 0xC0, kProgressive = 0xC2, kHuffman = 0xC4, kScan = 0xDA, kTables = 0xDB,
                  kRestartInterval = 0xDD, kComment = 0xFE, kAdobe = 0xEE;

/// Numbers of a segment, big-endian.
struct Segment {
  std::string_view bytes;
  int byte(size_t at) const { return static_cast<uint8_t>(bytes[at]); }
  int word(size_t at) const { return byte(at) << 8 | byte(at + 1); }
};

/// T.81, B.2.2: precision, height, width, number of components, and of each its name, sampling and
/// table.
std::optional<JpegSize> plain_frame(const Segment& frame) {
  constexpr int kOneSample = 0x11;
  if (frame.bytes.size() < 6 || frame.byte(0) != 8) return std::nullopt;
  const JpegSize size{frame.word(3), frame.word(1)};
  const int components = frame.byte(5);
  if (frame.bytes.size() != 6 + 3 * static_cast<size_t>(components)) return std::nullopt;
  if (size.width < 1 || size.height < 1 || size.width > kMostSide || size.height > kMostSide) return std::nullopt;
  if (int64_t{size.width} * size.height > kMostPixels) return std::nullopt;
  if (components == 1) return frame.byte(7) == kOneSample ? std::optional(size) : std::nullopt;
  if (components != 3) return std::nullopt;
  // Other names than those of JFIF may be RGB's.
  const bool named = frame.byte(6) == 1 && frame.byte(9) == 2 && frame.byte(12) == 3;
  return named && frame.byte(10) == kOneSample && frame.byte(13) == kOneSample ? std::optional(size) : std::nullopt;
}

/// Adobe's own segment with a transform other than YCbCr's (T.872, 6.5.3): colours that stand in it
/// as they are, or ink.
bool other_colours(const Segment& segment) {
  return segment.bytes.starts_with("Adobe") && segment.bytes.size() >= 12 && segment.byte(11) != 1;
}

bool is_skipped(uint8_t marker) {
  return (marker >= 0xE0 && marker <= 0xEF) || marker == kComment || marker == kHuffman || marker == kTables ||
         marker == kRestartInterval;
}

}  // namespace

std::optional<JpegSize> plain_jpeg(std::string_view file) {
  if (!file.starts_with("\xFF\xD8") || !file.ends_with("\xFF\xD9")) return std::nullopt;
  std::optional<JpegSize> size;
  for (size_t at = 2; at + 4 <= file.size();) {
    const auto marker = static_cast<uint8_t>(file[at + 1]);
    if (file[at] != '\xFF') return std::nullopt;
    if (marker == kScan) return size;
    const auto length = static_cast<size_t>(Segment{file}.word(at + 2));
    if (length < 2 || at + 2 + length > file.size()) return std::nullopt;
    const Segment segment{file.substr(at + 4, length - 2)};
    if (marker == kBaseline || marker == kProgressive) {
      if (size) return std::nullopt;
      size = plain_frame(segment);
      if (!size) return std::nullopt;
    } else if (!is_skipped(marker) || (marker == kAdobe && other_colours(segment))) {
      return std::nullopt;
    }
    at += 2 + length;
  }
  return std::nullopt;
}

}  // namespace trainyard
