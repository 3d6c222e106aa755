// JPEG and PNG: header, decoding and the resized view. The first byte chooses size and
// augmentation.
#include <png.h>
#include <turbojpeg.h>

#include "fuzz/target.h"
#include "trainer/base/random.h"
#include "trainer/data/images/image_decoder.h"
#include "trainer/data/images/image_header.h"
#include "trainer/data/images/plain_jpeg.h"
#include "trainer/data/pixels/augment.h"

namespace trainyard::fuzz {

namespace {

constexpr int64_t kMostPixelsHere = 1 << 20;  // larger ones are slow and no different

Image pattern(int width, int height) {
  Image image{.width = width, .height = height};
  for (int i = 0; i < width * height * 3; ++i) image.pixels.push_back(static_cast<uint8_t>(i * 7 + i / width));
  return image;
}

std::string png(const Image& image, uint32_t format) {
  png_image out{};
  out.version = PNG_IMAGE_VERSION;
  out.width = static_cast<uint32_t>(image.width);
  out.height = static_cast<uint32_t>(image.height);
  out.format = format;
  std::vector<uint8_t> pixels = image.pixels;
  pixels.resize(PNG_IMAGE_SIZE(out));
  png_alloc_size_t bytes = 0;
  require(png_image_write_to_memory(&out, nullptr, &bytes, 0, pixels.data(), 0, nullptr) != 0, "a PNG");
  std::string file(bytes, '\0');
  require(png_image_write_to_memory(&out, file.data(), &bytes, 0, pixels.data(), 0, nullptr) != 0, "a PNG");
  return file;
}

/// With chroma at a part of the size, as cameras write it.
std::string jpeg(const Image& image, int sampling, int flags) {
  void* const handle = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  require(tjCompress2(handle, image.pixels.data(), image.width, 0, image.height, TJPF_RGB, &bytes, &size, sampling, 90,
                      flags) == 0,
          "a JPEG");
  std::string file(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(handle);
  return file;
}

void look(std::string_view file, bool augmented, int size) {
  const ImageHeader header = read_image_header(file);
  if (const auto plain = plain_jpeg(file)) {
    require(plain->width == header.width && plain->height == header.height, "a device is told the size");
  }
  if (int64_t{header.width} * header.height > kMostPixelsHere) return;
  const Augment augment = augmented ? Augment::standard : Augment::none;
  Image image;
  ImageDecoder decoder;
  decoder.decode(file, shorter_side_needed(augment, size), image);
  require(image.pixels.size() == static_cast<size_t>(image.width) * image.height * 3, "an image has its pixels");
  View view;
  const auto plan = [&](int width, int height) {
    Random random{file.size()};
    view = plan_view(augment, size, width, height, random);
    return looked_at(view);
  };
  plan(image.full_width(), image.full_height());
  std::vector<uint8_t> out(static_cast<size_t>(size) * size * 3);
  std::vector<uint8_t> again(out.size());
  Resizer resizer;
  resizer.resize(image, view, out.data());
  Image part;
  decoder.decode(file, shorter_side_needed(augment, size), plan, part);
  plan(part.full_width(), part.full_height());
  resizer.resize(part, view, again.data());
  require(out == again, "a part gives the pixels of the whole");
}

}  // namespace

std::vector<std::string> seeds() {
  const Image image = pattern(37, 29);
  const std::string colour = png(image, PNG_FORMAT_RGB);
  const std::string grey = png(image, PNG_FORMAT_GRAY);
  const std::string alpha = png(image, PNG_FORMAT_RGBA);
  return {"\x01" + encode_jpeg(image, 90),
          "\x80" + encode_jpeg(pattern(200, 120), 40),
          "\x02" + colour,
          "\x90" + grey,
          "\x03" + alpha,
          "\x84" + jpeg(pattern(90, 70), TJSAMP_420, 0),
          "\x88" + jpeg(pattern(90, 70), TJSAMP_422, TJFLAG_PROGRESSIVE),
          "\x90" + jpeg(pattern(90, 70), TJSAMP_440, 0)};
}

void run(std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input.front());
  try {
    look(input.substr(1), choice >= 128, 8 + choice % 64 * 2);
  } catch (const BadImage&) {
    return;
  }
}

}  // namespace trainyard::fuzz
