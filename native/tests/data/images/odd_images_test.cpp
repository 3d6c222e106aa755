// Images as they are found in the wild: each is read as what it is, or named with a reason and
// counted.
#include <gmock/gmock.h>

#include <map>

#include "jpeg_support.h"
#include "tests/data/support.h"
#include "trainer/data/images/image_decoder.h"
#include "trainer/data/images/png.h"
#include "trainer/data/reader.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Image decode(const std::string& file) {
  ImageDecoder decoder;
  Image image;
  decoder.decode(file, 1 << 20, image);
  return image;
}

/// A camera's note that its picture is to be turned by 90 degrees, behind the start of `file`.
std::string turned(const std::string& file) {
  const std::string exif(
      "\xff\xe1\x00\x22"
      "Exif\0\0"
      "MM\0\x2a\0\0\0\x08"
      "\0\x01"
      "\x01\x12\0\x03\0\0\0\x01\0\x06\0\0"
      "\0\0\0\0",
      36);
  return file.substr(0, 2) + exif + file.substr(2);
}

TEST(OddImages, ink_with_and_without_adobes_mark_becomes_colour) {
  const std::vector<uint8_t> adobe{200 * 128 / 255, 100 * 128 / 255, 128};  // stored is what is left of the light
  const std::vector<uint8_t> plain{(255 - 200) * 127 / 255, (255 - 100) * 127 / 255, 0};
  const auto expect_colour = [](const std::string& file, const std::vector<uint8_t>& colour) {
    const Image image = decode(file);
    for (size_t channel = 0; channel < 3; ++channel) EXPECT_NEAR(image.pixels[channel], colour[channel], 3) << channel;
  };
  expect_colour(encode(ink(), [](auto& compress) { jpeg_set_colorspace(&compress, JCS_YCCK); }), adobe);
  expect_colour(encode(ink(), as_usual), adobe);
  expect_colour(encode(ink(), [](auto& compress) { compress.write_Adobe_marker = FALSE; }), plain);
}

/// As torchvision and TensorFlow read it: the pixels as they are stored.
TEST(OddImages, a_note_that_the_picture_lies_on_its_side_changes_nothing) {
  const std::string upright = encode(drawn(40, 24), as_usual);
  const Image image = decode(turned(upright));
  EXPECT_EQ(image.width, 40);
  EXPECT_EQ(image.pixels, decode(upright).pixels);
}

TEST(OddImages, every_way_of_coding_the_same_pixels_gives_them) {
  const Samples samples = drawn(61, 45);
  const Image expected = decode(encode(samples, as_usual));
  EXPECT_EQ(decode(encode(samples, [](auto& compress) { jpeg_simple_progression(&compress); })).pixels,
            expected.pixels);
  EXPECT_EQ(decode(encode(samples, [](auto& compress) { compress.optimize_coding = TRUE; })).pixels, expected.pixels);
  EXPECT_EQ(decode(encode(samples, [](auto& compress) { compress.restart_interval = 3; })).pixels, expected.pixels);
}

/// One folder of them all, once through the reader in every size and view.
TEST(OddImages, are_read_or_named_and_counted) {
  const TemporaryFolder folder;
  const std::string good = encode(drawn(40, 24), as_usual);
  const auto deeper = [&](char bits) {
    std::string file = good;
    file[file.find("\xff\xc0") + 4] = bits;
    return file;
  };
  const std::map<std::string, std::string> sound{
      {"cmyk.jpg", encode(ink(), as_usual)},
      {"dot.jpg", encode(drawn(1, 1), as_usual)},
      {"progressive.jpg", encode(drawn(300, 200), [](auto& c) { jpeg_simple_progression(&c); })},
      {"tall.jpg", encode(drawn(3, 20'000), as_usual)},
      {"turned.jpg", turned(good)},
      {"wide.jpg", encode(drawn(20'000, 40), as_usual)},
  };
  const std::map<std::string, std::string> broken{
      {"cut.jpg", good.substr(0, good.size() / 2)},
      {"deep.jpg", deeper(12)},
      {"empty.jpg", ""},
      {"gif.jpg", "GIF89a\x01"},
      {"heic.jpg", std::string("\0\0\0\x18"
                               "ftypheic",
                               12)},
      {"page.jpg", "<!DOCTYPE html><title>404</title>"},
      {"text.png", "a note\n"},
      {"webp.jpg", std::string("RIFF\x1a\0\0\0WEBPVP8 ", 16)},
  };
  for (const auto* files : {&sound, &broken}) {
    for (const auto& [name, bytes] : *files) folder.write("all/" + name, bytes);
  }
  const auto data = open_dataset(folder.path(), 16);
  ASSERT_EQ(data->size(), sound.size() + broken.size());
  for (const int size : {16, 96, 224}) {
    for (const Augment augment : {Augment::none, Augment::standard}) {
      std::map<std::string, std::string> told;
      LoaderOptions options;
      options.image_size = size;
      options.batch = 7;
      options.augment = augment;
      options.max_bad_images = static_cast<int64_t>(broken.size());
      options.on_bad_image = [&](const std::string& path, const std::string& message) {
        EXPECT_TRUE(told.emplace(path.substr(path.rfind('/') + 1), message).second) << path << " was told of twice";
      };
      for (const Batch& batch : take(*data, options, 0, 8)) EXPECT_EQ(batch.count, 7);
      EXPECT_THAT(
          told, UnorderedElementsAre(Pair("cut.jpg", HasSubstr("Premature end")),
                                     Pair("deep.jpg", HasSubstr("precision 12")), Pair("empty.jpg", HasSubstr("empty")),
                                     Pair("gif.jpg", HasSubstr("a GIF")), Pair("heic.jpg", HasSubstr("a HEIC")),
                                     Pair("page.jpg", HasSubstr("an HTML file, and only")),
                                     Pair("text.png", HasSubstr("Not a JPEG")), Pair("webp.jpg", HasSubstr("a WebP"))))
          << size;
    }
  }
}

}  // namespace
}  // namespace trainyard
