#include "trainer/train/process/jpeg_decoder.h"

#include "common/error.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard {

void check_jpeg_decoder(const JpegDecoderChoice& choice) {
  if (choice.decoder == "cpu") return;
  if (choice.device != "cuda") {
    throw Error(Exit::usage,
                "--jpeg-decoder nvjpeg decodes on the GPU that trains, and --device cpu has none. Leave it "
                "out, or use --device cuda");
  }
  if (choice.cache == "ram") {
    throw Error(Exit::usage,
                "--cache ram keeps images that the host has decoded, and with --jpeg-decoder nvjpeg it "
                "decodes none. Leave one of both out");
  }
}

MakeDeviceJpeg jpeg_decoder_maker(const std::string& decoder, int index) {
  if (decoder == "cpu") return {};
  const std::shared_ptr<CudaLibrary> library = load_cuda_library();
  load_nvjpeg(*library);
  return [library, index] { return library->make_jpeg_decoder(index); };
}

}  // namespace trainyard
