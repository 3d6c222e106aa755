#include "jpeg_support.h"

#include <cstdlib>

#include "tests/data/support.h"

namespace trainyard {

std::string encode(const Samples& samples, const std::function<void(jpeg_compress_struct&)>& change) {
  jpeg_compress_struct compress{};
  jpeg_error_mgr errors{};
  compress.err = jpeg_std_error(&errors);
  jpeg_create_compress(&compress);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&compress, &bytes, &size);
  compress.image_width = static_cast<JDIMENSION>(samples.width);
  compress.image_height = static_cast<JDIMENSION>(samples.height);
  compress.in_color_space = samples.space;
  compress.input_components = samples.space == JCS_CMYK ? 4 : 3;
  jpeg_set_defaults(&compress);
  jpeg_set_quality(&compress, 95, TRUE);
  change(compress);
  jpeg_start_compress(&compress, TRUE);
  std::vector<uint8_t> values = samples.values;
  const size_t pitch = static_cast<size_t>(samples.width) * static_cast<size_t>(compress.input_components);
  while (compress.next_scanline < compress.image_height) {
    JSAMPROW row = values.data() + compress.next_scanline * pitch;
    jpeg_write_scanlines(&compress, &row, 1);
  }
  jpeg_finish_compress(&compress);
  std::string file(reinterpret_cast<const char*>(bytes), size);
  std::free(bytes);
  jpeg_destroy_compress(&compress);
  return file;
}

void as_usual(jpeg_compress_struct& /*compress*/) {}

Samples drawn(int width, int height) { return {width, height, JCS_RGB, sample_image(width, height, 1).pixels}; }

Samples ink() {
  Samples samples{32, 24, JCS_CMYK, {}};
  for (int i = 0; i < 32 * 24; ++i) samples.values.insert(samples.values.end(), {200, 100, 255, 128});
  return samples;
}

}  // namespace trainyard
