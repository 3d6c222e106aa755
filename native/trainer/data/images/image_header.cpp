#include "trainer/data/images/image_header.h"

#include <turbojpeg.h>

#include <memory>
#include <string>

#include "trainer/data/images/foreign.h"
#include "trainer/data/images/image.h"
#include "trainer/data/images/png.h"

namespace trainyard {

namespace {

/// The IHDR chunk, which every PNG begins with (PNG specification, 11.2.2): length, name, width and
/// height, big-endian.
ImageHeader read_png_header(std::string_view file) {
  constexpr std::string_view kChunk{"\0\0\0\x0dIHDR", 8};
  if (file.size() < 24 || file.substr(8, 8) != kChunk) throw BadImage("the PNG has no header");
  const auto number = [&](size_t at) {
    uint32_t value = 0;
    for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(file[at + i]);
    if (value == 0 || value > INT32_MAX) throw BadImage("the PNG has no size");
    return static_cast<int>(value);
  };
  return {"PNG", number(16), number(20)};
}

}  // namespace

ImageHeader read_image_header(std::string_view file) {
  if (is_png(file)) return read_png_header(file);
  refuse_foreign(file);
  const std::unique_ptr<void, int (*)(tjhandle)> jpeg(tjInitDecompress(), tjDestroy);
  if (!jpeg) throw std::runtime_error("cannot start the JPEG decoder");
  ImageHeader header{"JPEG", 0, 0};
  int subsampling = 0;
  int colours = 0;
  if (tjDecompressHeader3(jpeg.get(), reinterpret_cast<const unsigned char*>(file.data()), file.size(), &header.width,
                          &header.height, &subsampling, &colours) != 0) {
    throw BadImage(file.empty() ? std::string("the file is empty") : std::string(tjGetErrorStr2(jpeg.get())));
  }
  return header;
}

}  // namespace trainyard
