#include <turbojpeg.h>

#include "trainer/data/images/jpeg.h"

namespace trainyard {

std::string encode_jpeg(const Image& image, int quality) {
  const std::unique_ptr<void, int (*)(tjhandle)> compress(tjInitCompress(), tjDestroy);
  if (!compress) throw std::runtime_error("cannot start the JPEG encoder");
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed = tjCompress2(compress.get(), image.pixels.data(), image.width, 0, image.height, TJPF_RGB, &bytes,
                                 &size, TJSAMP_444, quality, TJFLAG_ACCURATEDCT);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(bytes, tjFree);
  if (failed != 0) throw std::runtime_error(std::string("cannot encode a JPEG: ") + tjGetErrorStr2(compress.get()));
  return std::string(reinterpret_cast<const char*>(bytes), size);
}

}  // namespace trainyard
