#include "trainer/data/images/jpeg.h"

#include <gmock/gmock.h>
#include <turbojpeg.h>

#include "tests/data/support.h"
#include "trainer/base/random.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

/// Encodes raw samples of any layout that TurboJPEG knows.
std::string encode(const std::vector<uint8_t>& samples, int width, int height, int layout, int subsampling, int flags) {
  const tjhandle handle = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed =
      tjCompress2(handle, samples.data(), width, 0, height, layout, &bytes, &size, subsampling, 95, flags);
  EXPECT_EQ(failed, 0) << tjGetErrorStr2(handle);
  std::string result(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(handle);
  return result;
}

Image decode(const std::string& bytes, int shorter_side = 1 << 20) {
  JpegDecoder decoder;
  Image image;
  decoder.decode(bytes, shorter_side, image);
  return image;
}

std::string why_bad(const std::string& bytes) {
  try {
    decode(bytes);
  } catch (const BadImage& error) {
    return error.what();
  }
  return "it is not";
}

double mean_difference(const Image& a, const Image& b) {
  EXPECT_EQ(a.pixels.size(), b.pixels.size());
  double sum = 0;
  for (size_t i = 0; i < a.pixels.size(); ++i) sum += std::abs(a.pixels[i] - b.pixels[i]);
  return sum / static_cast<double>(a.pixels.size());
}

TEST(Jpeg, comes_back_as_it_went) {
  const Image image = sample_image(61, 47, 1);
  const Image back = decode(encode_jpeg(image, 100));
  EXPECT_EQ(back.width, 61);
  EXPECT_EQ(back.height, 47);
  EXPECT_LT(mean_difference(image, back), 1.5);
  EXPECT_LT(mean_difference(image, decode(encode_jpeg(image, 90))), 8);
}

TEST(Jpeg, odd_sizes) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 3000}, {3000, 2}, {7, 9}}) {
    const Image back = decode(encode_jpeg(sample_image(width, height, 2), 90), 1);
    EXPECT_GE(back.width, 1);
    EXPECT_EQ(back.pixels.size(), static_cast<size_t>(back.width) * static_cast<size_t>(back.height) * 3);
  }
}

TEST(Jpeg, shrinks_while_the_shorter_side_stays_long_enough) {
  const std::string bytes = encode_jpeg(sample_image(400, 300, 3), 90);
  EXPECT_EQ(decode(bytes, 301).height, 300);
  EXPECT_EQ(decode(bytes, 151).height, 300);
  EXPECT_EQ(decode(bytes, 150).height, 150);
  EXPECT_EQ(decode(bytes, 75).height, 75);
  EXPECT_EQ(decode(bytes, 38).height, 38);  // 300 / 8, rounded up
  EXPECT_EQ(decode(bytes, 1).height, 38);
}

TEST(Jpeg, grey_has_equal_channels) {
  std::vector<uint8_t> grey(64 * 64);
  for (size_t i = 0; i < grey.size(); ++i) grey[i] = static_cast<uint8_t>(i / 64 * 4);
  const Image image = decode(encode(grey, 64, 64, TJPF_GRAY, TJSAMP_GRAY, 0));
  for (size_t i = 0; i < grey.size(); ++i) {
    ASSERT_EQ(image.pixels[3 * i], image.pixels[3 * i + 1]);
    ASSERT_EQ(image.pixels[3 * i], image.pixels[3 * i + 2]);
    ASSERT_NEAR(image.pixels[3 * i], grey[i], 3);
  }
}

TEST(Jpeg, ink_becomes_colour) {
  // Adobe's way: stored values are what is left of the light, so 255 is no ink.
  std::vector<uint8_t> inks;
  for (int i = 0; i < 32 * 32; ++i) inks.insert(inks.end(), {200, 100, 255, 128});
  const Image image = decode(encode(inks, 32, 32, TJPF_CMYK, TJSAMP_444, 0));
  EXPECT_NEAR(image.pixels[0], 200 * 128 / 255, 3);
  EXPECT_NEAR(image.pixels[1], 100 * 128 / 255, 3);
  EXPECT_NEAR(image.pixels[2], 128, 3);
}

TEST(Jpeg, what_is_no_sound_file_is_said_to_be_bad) {
  const std::string good = encode_jpeg(sample_image(64, 64, 4), 90);
  EXPECT_EQ(why_bad(good), "it is not");
  EXPECT_THAT(why_bad(""), HasSubstr("empty"));
  EXPECT_THAT(why_bad("\x89PNG\r\n\x1a\n and so on"), HasSubstr("Not a JPEG"));
  EXPECT_THAT(why_bad(good.substr(0, good.size() / 2)), HasSubstr("Premature end"));
  EXPECT_THAT(why_bad(good.substr(0, good.size() / 2) + "\xff\xd9"), HasSubstr("premature end"));
  EXPECT_THAT(why_bad(good.substr(0, 100)), HasSubstr("Premature end"));
}

TEST(Jpeg, a_header_that_claims_too_much_is_refused_before_memory_is_taken) {
  std::string bytes = encode_jpeg(sample_image(16, 16, 5), 90);
  const size_t frame = bytes.find(std::string("\xff\xc0", 2));
  ASSERT_NE(frame, std::string::npos);
  for (size_t i = 5; i < 9; ++i) bytes[frame + i] = '\xf0';
  EXPECT_THAT(why_bad(bytes), HasSubstr("more than 100 million"));
}

TEST(Jpeg, a_decoder_is_none_the_worse_for_a_bad_file) {
  const std::string good = encode_jpeg(sample_image(64, 64, 6), 90);
  const Image expected = decode(good);
  JpegDecoder decoder;
  Image image;
  for (const std::string& bad : {good.substr(0, 700), std::string("nothing"), good.substr(0, 30)}) {
    EXPECT_THROW(decoder.decode(bad, 1 << 20, image), BadImage);
    decoder.decode(good, 1 << 20, image);
    EXPECT_EQ(image.pixels, expected.pixels);
  }
}

/// Every damaged file either decodes or is said to be bad; nothing else may happen.
TEST(Jpeg, damage_never_does_harm) {
  const std::string progressive =
      encode(sample_image(48, 40, 7).pixels, 48, 40, TJPF_RGB, TJSAMP_420, TJFLAG_PROGRESSIVE);
  const std::string baseline = encode_jpeg(sample_image(48, 40, 8), 90);
  JpegDecoder decoder;
  Image image;
  int bad = 0;
  int decoded = 0;
  const auto attempt = [&](const std::string& bytes) {
    try {
      decoder.decode(bytes, 20, image);
      ++decoded;
      ASSERT_EQ(image.pixels.size(), static_cast<size_t>(image.width) * static_cast<size_t>(image.height) * 3);
    } catch (const BadImage&) {
      ++bad;
    }
  };
  Random random({9});
  for (const std::string& good : {progressive, baseline}) {
    for (size_t length = 0; length < good.size(); length += 7) attempt(good.substr(0, length));
    for (int i = 0; i < 1500; ++i) {
      std::string bytes = good;
      for (uint64_t flips = 1 + random.below(4); flips > 0; --flips) {
        bytes[random.below(bytes.size())] ^= static_cast<char>(1U << random.below(8));
      }
      attempt(bytes);
    }
  }
  for (int i = 0; i < 500; ++i) {
    std::string bytes = i % 2 == 0 ? std::string("\xff\xd8\xff", 3) : std::string();
    for (uint64_t size = random.below(300); size > 0; --size) bytes.push_back(static_cast<char>(random.next()));
    attempt(bytes);
  }
  EXPECT_GT(bad, 1000);
  EXPECT_GT(decoded, 100);
}

/// The pixels of `part` are those of `whole`, wherever they lie.
void expect_part_of(const Image& whole, const Image& part, const Rect& wanted, const std::string& name) {
  ASSERT_EQ(part.decoded_width(), whole.width) << name;
  ASSERT_EQ(part.decoded_height(), whole.height) << name;
  ASSERT_EQ(part.full_width(), whole.full_width()) << name;
  ASSERT_EQ(part.full_height(), whole.full_height()) << name;
  const int by = whole.shrink;
  const int right = std::min((wanted.x + wanted.width + by - 1) / by, whole.width);
  const int bottom = std::min((wanted.y + wanted.height + by - 1) / by, whole.height);
  ASSERT_LE(part.left, wanted.x / by) << name;
  ASSERT_LE(part.top, wanted.y / by) << name;
  ASSERT_GE(part.left + part.width, right) << name;
  ASSERT_GE(part.top + part.height, bottom) << name;
  for (int y = wanted.y / by; y < bottom; ++y) {
    const auto row = [&](const Image& image) {
      const int from = (y - image.top) * image.width + wanted.x / by - image.left;
      const auto begin = image.pixels.begin() + std::ptrdiff_t{3} * from;
      return std::vector<uint8_t>(begin, begin + std::ptrdiff_t{3} * (right - wanted.x / by));
    };
    ASSERT_EQ(row(part), row(whole)) << name << " row " << y;
  }
}

/// Sound by its markers, with coefficients that are known in part only. (Compressed data hold no
/// marker.)
std::string without_last_scan(const std::string& progressive) {
  return progressive.substr(0, progressive.rfind("\xff\xda")) + "\xff\xd9";
}

TEST(Jpeg, parts_have_the_pixels_of_the_whole) {
  constexpr int kWidth = 203;
  constexpr int kHeight = 151;
  const Image image = sample_image(kWidth, kHeight, 9);
  Random random{4};
  JpegDecoder decoder;
  for (const int subsampling : {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_440, TJSAMP_411, TJSAMP_GRAY}) {
    const auto coded = [&](int flags) { return encode(image.pixels, kWidth, kHeight, TJPF_RGB, subsampling, flags); };
    const std::string progressive = coded(TJFLAG_PROGRESSIVE);
    const std::string kinds[] = {coded(0), progressive, without_last_scan(progressive)};
    for (size_t kind = 0; kind < std::size(kinds); ++kind) {
      const std::string& bytes = kinds[kind];
      for (const int shorter_side : {kHeight, kHeight / 2, kHeight / 4}) {
        const Image whole = decode(bytes, shorter_side);
        for (int i = 0; i < 25; ++i) {
          const auto draw = [&](int count) { return static_cast<int>(random.below(static_cast<uint64_t>(count))); };
          Rect part{draw(kWidth), draw(kHeight), 0, 0};
          part.width = 1 + draw(kWidth - part.x);
          part.height = 1 + draw(kHeight - part.y);
          Image got;
          decoder.decode(bytes, shorter_side, [&](int, int) { return part; }, got);
          const std::string name = "sampling " + std::to_string(subsampling) + " kind " + std::to_string(kind) +
                                   " side " + std::to_string(shorter_side) + " part " + std::to_string(part.x) + "," +
                                   std::to_string(part.y) + " " + std::to_string(part.width) + "x" +
                                   std::to_string(part.height);
          expect_part_of(whole, got, part, name);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Jpeg, parts_of_a_file_cut_short_are_refused) {
  const std::string bytes = encode_jpeg(sample_image(200, 200, 5), 90);
  JpegDecoder decoder;
  Image image;
  const auto top = [](int, int) { return Rect{0, 0, 20, 20}; };
  decoder.decode(bytes, 200, top, image);
  EXPECT_LT(image.height, 200);
  EXPECT_THROW(decoder.decode(bytes.substr(0, bytes.size() * 9 / 10), 200, top, image), BadImage);
  EXPECT_THROW(decoder.decode(bytes.substr(0, bytes.size() - 1), 200, top, image), BadImage);
  // Something behind the end costs time and nothing else.
  decoder.decode(bytes + "more", 200, top, image);
  EXPECT_LT(image.height, 200);
}

}  // namespace
}  // namespace trainyard
