#include "trainer/data/image_header.h"

#include <turbojpeg.h>

#include <memory>
#include <string>

#include "trainer/data/image.h"

namespace trainyard {

ImageHeader read_image_header(std::string_view file) {
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
