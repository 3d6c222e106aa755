// PNG files of every kind become the RGB they stand for, under any name; damaged ones are said to
// be bad.
#include "trainer/data/images/png.h"

#include <gmock/gmock.h>
#include <png.h>
#include <zlib.h>

#include <ctime>
#include <functional>

#include "tests/data/records/records_support.h"
#include "trainer/data/images/image_header.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Kind {
  int color_type;
  int depth;
  int channels;
  bool interlaced = false;
};

/// Writes rows of packed samples; `before` may set more of the header (a palette).
std::string encode(int width, int height, const Kind& kind, std::vector<uint8_t> samples,
                   const std::function<void(png_structp, png_infop)>& before = {}) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp p, png_bytep bytes, size_t count) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<const char*>(bytes), count);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), kind.depth,
               kind.color_type, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_BASE,
               PNG_FILTER_TYPE_BASE);
  if (before) before(png, info);
  const size_t row = (static_cast<size_t>(width * kind.channels * kind.depth) + 7) / 8;
  std::vector<png_bytep> rows;
  for (int y = 0; y < height; ++y) rows.push_back(samples.data() + static_cast<size_t>(y) * row);
  png_set_rows(png, info, rows.data());
  png_write_png(png, info, PNG_TRANSFORM_IDENTITY, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

std::string encode_rgb(const Image& image, bool interlaced = false) {
  return encode(image.width, image.height, {PNG_COLOR_TYPE_RGB, 8, 3, interlaced}, image.pixels);
}

Image decode(const std::string& file) {
  Image image;
  decode_png(file, image);
  return image;
}

/// PNG's CRC-32 (ISO 3309), by its definition.
uint32_t png_crc(const std::string& bytes) {
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

std::string why_bad(const std::string& file) {
  try {
    decode(file);
  } catch (const BadImage& error) {
    return error.what();
  }
  return "it is not";
}

TEST(Png, comes_back_as_it_went) {
  const Image image = sample_image(61, 47, 1);
  for (const bool interlaced : {false, true}) {
    const Image back = decode(encode_rgb(image, interlaced));
    EXPECT_EQ(back.width, 61);
    EXPECT_EQ(back.full_height(), 47);
    EXPECT_EQ(back.pixels, image.pixels);
  }
}

/// Interlacing leaves out passes of small images.
TEST(Png, of_every_small_size_comes_back) {
  for (int width = 1; width <= 9; ++width) {
    for (int height = 1; height <= 9; ++height) {
      const Image image = sample_image(width, height, 2);
      ASSERT_EQ(decode(encode_rgb(image, true)).pixels, image.pixels) << width << "x" << height;
      ASSERT_EQ(decode(encode_rgb(image)).pixels, image.pixels) << width << "x" << height;
    }
  }
}

std::string chunk(const std::string& type, const std::string& data) {
  const auto number = [](uint32_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
    return text;
  };
  return number(static_cast<uint32_t>(data.size())) + type + data + number(png_crc(type + data));
}

/// Deflated: a black picture of side x side pixels, and `surplus` MiB of zeros behind it.
std::string black_png(int side, size_t surplus) {
  constexpr size_t kPiece = size_t{1} << 20;
  z_stream stream{};
  EXPECT_EQ(deflateInit(&stream, 9), Z_OK);
  uint32_t sum = 1;
  /// The piece of the stream that `bytes` zeros become, by itself.
  const auto zeros = [&](size_t bytes, int flush) {
    std::vector<Bytef> in(bytes, 0);
    std::string out(bytes + 4096, '\0');
    stream.next_in = in.data();
    stream.avail_in = static_cast<uInt>(bytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, flush);
    out.resize(out.size() - stream.avail_out);
    return out;
  };
  const size_t rows = (static_cast<size_t>(side) * 3 + 1) * static_cast<size_t>(side);
  std::string data = zeros(rows, Z_FULL_FLUSH);
  sum = static_cast<uint32_t>(adler32_combine(sum, adler32(1, std::vector<Bytef>(rows).data(), static_cast<uInt>(rows)),
                                              static_cast<z_off_t>(rows)));
  const std::string piece = zeros(kPiece, Z_FULL_FLUSH);
  const auto sum_of_piece = adler32(1, std::vector<Bytef>(kPiece).data(), static_cast<uInt>(kPiece));
  for (size_t i = 0; i < surplus; ++i) {
    data += piece;
    sum = static_cast<uint32_t>(adler32_combine(sum, sum_of_piece, static_cast<z_off_t>(kPiece)));
  }
  deflateEnd(&stream);
  data += std::string("\x03\0", 2);  // an empty last block
  for (int shift = 24; shift >= 0; shift -= 8) data += static_cast<char>(sum >> shift);
  const std::string black = encode_rgb(Image{side, side, std::vector<uint8_t>(rows)});
  return black.substr(0, 33) + chunk("IDAT", data) + chunk("IEND", "");
}

/// Processor time, so that a busy machine makes no difference; unpacking the surplus takes some
/// hundred times as much.
TEST(Png, what_stands_behind_the_last_row_is_not_unpacked) {
  const auto processor_seconds = [](const std::string& file) {
    const std::clock_t begin = std::clock();
    const Image image = decode(file);
    EXPECT_THAT(image.pixels, ::testing::Each(0));
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const std::string file = black_png(256, 2048);
  EXPECT_LT(file.size(), size_t{4} << 20);
  const double without = processor_seconds(black_png(256, 0));
  EXPECT_LT(processor_seconds(file), 0.5 + 10 * without);
}

TEST(Png, of_every_kind_becomes_rgb) {
  EXPECT_THAT(decode(encode(2, 1, {PNG_COLOR_TYPE_GRAY, 8, 1}, {7, 200})).pixels, ElementsAre(7, 7, 7, 200, 200, 200));
  EXPECT_THAT(decode(encode(2, 1, {PNG_COLOR_TYPE_GRAY, 1, 1}, {0x40})).pixels, ElementsAre(0, 0, 0, 255, 255, 255));
  EXPECT_THAT(decode(encode(1, 1, {PNG_COLOR_TYPE_GRAY_ALPHA, 8, 2}, {9, 0})).pixels, ElementsAre(9, 9, 9));
  EXPECT_THAT(decode(encode(1, 1, {PNG_COLOR_TYPE_RGB_ALPHA, 8, 4}, {1, 2, 3, 0})).pixels, ElementsAre(1, 2, 3));
  EXPECT_THAT(decode(encode(1, 1, {PNG_COLOR_TYPE_RGB, 16, 3}, {1, 0, 0x7f, 0xff, 0xff, 0xff})).pixels,
              ElementsAre(1, 127, 255));
  EXPECT_THAT(decode(encode(1, 1, {PNG_COLOR_TYPE_GRAY, 16, 1}, {0x80, 0x80})).pixels, ElementsAre(128, 128, 128));
  const auto palette = [](png_structp png, png_infop info) {
    const png_color colours[] = {{1, 2, 3}, {250, 251, 252}};
    const png_byte alphas[] = {0, 255};
    png_set_PLTE(png, info, colours, 2);
    png_set_tRNS(png, info, alphas, 2, nullptr);
  };
  EXPECT_THAT(decode(encode(2, 1, {PNG_COLOR_TYPE_PALETTE, 4, 1}, {0x10}, palette)).pixels,
              ElementsAre(250, 251, 252, 1, 2, 3));
}

TEST(Png, what_is_no_sound_file_is_said_to_be_bad) {
  const std::string good = encode_rgb(sample_image(64, 64, 4));
  EXPECT_EQ(why_bad(good), "it is not");
  EXPECT_THAT(why_bad(good.substr(0, good.size() / 2)), HasSubstr("Premature end"));
  EXPECT_THAT(why_bad(good.substr(0, good.size() - 1)), HasSubstr("Premature end"));
  EXPECT_THAT(why_bad(good.substr(0, 8)), HasSubstr("Premature end"));
  std::string damaged = good;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_NE(why_bad(damaged), "it is not");
}

TEST(Png, a_header_that_claims_too_much_is_refused_before_memory_is_taken) {
  EXPECT_THAT(why_bad(encode(200'000, 1, {PNG_COLOR_TYPE_GRAY, 1, 1}, std::vector<uint8_t>(25'000))), "it is not");
  // 30000 x 30000 pixels of one bit, of which only the first row is there.
  std::string file = encode(30'000, 1, {PNG_COLOR_TYPE_GRAY, 1, 1}, std::vector<uint8_t>(3'750));
  file.replace(20, 4, std::string("\0\0\x75\x30", 4));
  const uint32_t crc = png_crc(file.substr(12, 17));
  for (size_t i = 0; i < 4; ++i) file[29 + i] = static_cast<char>(crc >> (24 - 8 * i));
  EXPECT_THAT(why_bad(file), HasSubstr("more than 100 million"));
}

/// Every damaged file either decodes or is said to be bad; nothing else may happen.
TEST(Png, damage_never_does_harm) {
  const std::string whole = encode_rgb(sample_image(40, 30, 7), true);
  Random random({11});
  int bad = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string damaged = whole;
    for (uint64_t k = random.below(3) + 1; k > 0; --k) {
      damaged[8 + random.below(damaged.size() - 8)] = static_cast<char>(random.below(256));
    }
    if (random.below(2) == 0) damaged.resize(random.below(damaged.size()));
    bad += why_bad(damaged) != "it is not" ? 1 : 0;
  }
  EXPECT_GT(bad, 2000);
}

TEST(Png, is_read_in_class_folders_and_shards_whatever_its_name_says) {
  const TemporaryFolder folder;
  const std::string png = encode_rgb(sample_image(20, 18, 3));
  folder.write("from/a/1.png", png);
  folder.write("from/a/2.jpg", png);
  folder.write("from/b/1.PNG", small_jpeg(5));
  LoaderOptions loading;
  loading.image_size = 16;
  loading.batch = 3;
  loading.shuffle = false;
  loading.augment = Augment::none;
  const auto folders = open_records_at(folder.path() + "/from");
  const Batch batch = take(*folders, loading, 0, 1)[0];
  EXPECT_THAT(batch.indices, ElementsAre(0, 1, 2));
  EXPECT_TRUE(std::equal(batch.images.begin(), batch.images.begin() + 768, batch.images.begin() + 768));
  PrepOptions options;
  options.from = folder.path() + "/from";
  options.to = folder.path() + "/to";
  options.shards = 1;
  options.validation = 0;
  EXPECT_EQ(prep(options).left_out, 0);
  EXPECT_EQ(take(*open_records_at(options.to), loading, 0, 1)[0].images, batch.images);
  const ImageHeader header = read_image_header(png);
  EXPECT_EQ(header.format, "PNG");
  EXPECT_EQ(header.width, 20);
  EXPECT_EQ(header.height, 18);
  EXPECT_THROW(read_image_header(png.substr(0, 20)), BadImage);
}

}  // namespace
}  // namespace trainyard
