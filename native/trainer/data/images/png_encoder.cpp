#include <png.h>

#include <stdexcept>

#include "trainer/data/images/png.h"

namespace trainyard {

std::string encode_png(const Image& image) {
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.width = static_cast<png_uint_32>(image.width);
  header.height = static_cast<png_uint_32>(image.height);
  header.format = PNG_FORMAT_RGB;
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(header);
  std::string file(size, '\0');
  if (png_image_write_to_memory(&header, file.data(), &size, 0, image.pixels.data(), 0, nullptr) == 0) {
    throw std::runtime_error(std::string("cannot encode a PNG: ") + header.message);
  }
  file.resize(size);
  return file;
}

}  // namespace trainyard
