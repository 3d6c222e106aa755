#include <array>
#include <charconv>
#include <cstdlib>

#include "common/error.h"
#include "trainer/base/random.h"
#include "trainer/data/kinds.h"

namespace trainyard {

namespace {

constexpr size_t kImages = 5120;
constexpr int kDefaultClasses = 10;
constexpr int kMostClasses = 100'000;
constexpr int kMostPixels = 4096;
constexpr uint64_t kPatternTag = 0x7061747465726eULL;
constexpr uint64_t kNoiseTag = 0x6e6f697365ULL;

/// A triangle wave of period 1024 and height -256 to 256: integers, so that every machine draws the
/// same pixels.
int wave(int phase) { return std::abs((phase & 1023) - 512) * 2 - 512 + 256; }

class Synthetic : public Dataset {
 public:
  Synthetic(int classes, int pixels) : pixels_(pixels) {
    names_.reserve(static_cast<size_t>(classes));
    for (int i = 0; i < classes; ++i) names_.push_back("class" + std::to_string(i));
  }

  size_t size() const override { return kImages; }
  const std::vector<std::string>& class_names() const override { return names_; }
  int32_t label(size_t index) const override { return static_cast<int32_t>(index % names_.size()); }
  std::string name(size_t index) const override { return "synthetic/" + std::to_string(index); }
  std::string encoded(size_t) const override { return {}; }

  bool pixels(size_t index, int image_size, uint8_t* out) const override {
    Random pattern({kPatternTag, static_cast<uint64_t>(label(index))});
    Random noise({kNoiseTag, index});
    struct Channel {
      int along_x;
      int along_y;
      int phase;
    };
    std::array<Channel, 3> channels{};
    for (auto& channel : channels) {
      channel.along_x = static_cast<int>(pattern.below(2048)) - 1024;
      channel.along_y = static_cast<int>(pattern.below(2048)) - 1024;
      channel.phase = static_cast<int>(pattern.below(1024));
    }
    for (int y = 0; y < image_size; ++y) {
      const int cell_y = y * pixels_ / image_size;
      for (int x = 0; x < image_size; ++x) {
        const int cell_x = x * pixels_ / image_size;
        uint64_t bits = noise.next();
        for (const auto& channel : channels) {
          const int phase = channel.phase + (cell_x * channel.along_x + cell_y * channel.along_y) / pixels_;
          const int value = 128 + wave(phase) / 4 + static_cast<int>(bits & 127) - 64;
          *out++ = static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
          bits >>= 8;
        }
      }
    }
    return true;
  }

 private:
  int pixels_;
  std::vector<std::string> names_;
};

int parse(std::string_view text, int most, const std::string& spec) {
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || value < 1 || value > most) {
    throw Error(Exit::usage, "'" + spec +
                                 "' is no synthetic data set. Write synthetic, or synthetic:CLASSESxPIXELS with " +
                                 "1 to " + std::to_string(kMostClasses) + " classes and 1 to " +
                                 std::to_string(kMostPixels) + " pixels, as in synthetic:1000x224");
  }
  return value;
}

}  // namespace

bool is_synthetic(const std::string& spec) { return spec == "synthetic" || spec.starts_with("synthetic:"); }

std::unique_ptr<Dataset> open_synthetic(const std::string& spec, int image_size) {
  const size_t colon = spec.find(':');
  if (colon == std::string::npos) return std::make_unique<Synthetic>(kDefaultClasses, image_size);
  const std::string_view rest = std::string_view(spec).substr(colon + 1);
  const size_t cross = std::min(rest.find('x'), rest.size());
  const int classes = parse(rest.substr(0, cross), kMostClasses, spec);
  const int pixels = parse(cross < rest.size() ? rest.substr(cross + 1) : std::string_view(), kMostPixels, spec);
  return std::make_unique<Synthetic>(classes, pixels);
}

}  // namespace trainyard
