// JPEGs on the device: decoded, cropped and resized as on the host, whose pixels stand beside the
// files.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "common/error.h"
#include "proof/parts.h"
#include "proof/report.h"
#include "proof/resized.h"
#include "trainer/ops/cuda/math/resize.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard::proof {

namespace {

namespace fs = std::filesystem;

struct Sample {
  std::string name;
  std::string file;
  int width = 0;
  int height = 0;
  std::vector<uint8_t> pixels;  ///< [height, width, 3] by the host's decoder
};

/// A JPEG, and the PPM of its name.
Sample read_sample(const fs::path& jpeg) {
  Sample sample;
  sample.name = jpeg.stem().string();
  std::ifstream encoded(jpeg, std::ios::binary);
  sample.file.assign(std::istreambuf_iterator<char>(encoded), {});
  std::ifstream decoded(fs::path(jpeg).replace_extension(".ppm"), std::ios::binary);
  std::string kind;
  int most = 0;
  decoded >> kind >> sample.width >> sample.height >> most;
  decoded.get();
  sample.pixels.assign(std::istreambuf_iterator<char>(decoded), {});
  const size_t expected = static_cast<size_t>(sample.width) * static_cast<size_t>(sample.height) * 3;
  if (kind != "P6" || sample.pixels.size() != expected) throw Error(Exit::data, jpeg.string() + " has no pixels");
  return sample;
}

/// Whole, a part scaled up, and as training sees it: a part scaled down, of which a window is
/// mirrored.
std::vector<View> views_of(const Sample& sample) {
  const int w = sample.width;
  const int h = sample.height;
  return {{{0, 0, w, h}, w, h, {0, 0, w, h}, false},
          {{w - 11, h - 9, 11, 9}, 32, 32, {0, 0, 32, 32}, false},
          {{3, 2, w - 5, h - 4}, 36, 30, {5, 4, 24, 24}, true}};
}

/// The kernel's arithmetic on the pixels of the host's decoder, in the place of a device.
class Rehearsal final : public DeviceJpeg {
 public:
  explicit Rehearsal(const std::vector<Sample>& samples) : samples_(samples) {}
  bool read(std::string_view file, int width, int height, const View& view, uint8_t* out) override {
    for (const Sample& sample : samples_) {
      if (sample.file != file || sample.width != width || sample.height != height) continue;
      const auto run = cuda::ResizeView::of(sample.pixels.data(), width, view, out);
      for (int i = 0; i < view.window.width * view.window.height * 3; ++i) run(static_cast<unsigned>(i));
      return true;
    }
    return false;
  }

 private:
  const std::vector<Sample>& samples_;
};

bool compare(DeviceJpeg& decoder, const Sample& sample, const View& view, const std::string& what, double bound) {
  const std::vector<double> expected = resized(sample.pixels, sample.width, view);
  std::vector<uint8_t> out(expected.size());
  if (!decoder.read(sample.file, sample.width, sample.height, view, out.data())) {
    return report(what, "files that the device refused", 1, 0);
  }
  double sum = 0;
  for (size_t i = 0; i < out.size(); ++i) sum += std::abs(out[i] - expected[i]);
  return report(what, "mean difference of a byte", sum / static_cast<double>(out.size()), bound);
}

/// Of what the device must not take, and the host would name.
bool refuses(DeviceJpeg& decoder, const Sample& sample, const std::string& file, int width, const std::string& what) {
  std::vector<uint8_t> out(16UL * 16 * 3);
  const View view{{0, 0, 16, 16}, 16, 16, {0, 0, 16, 16}, false};
  return report(what, "times taken", decoder.read(file, width, sample.height, view, out.data()) ? 1 : 0, 0);
}

}  // namespace

bool jpeg_decoder(const std::string& device) {
  std::vector<Sample> samples;
  const char* folder = std::getenv("TRAINYARD_PROOF_SAMPLES");
  if (folder == nullptr) throw Error(Exit::usage, "set TRAINYARD_PROOF_SAMPLES to native/proof/jpegs");
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".jpg") samples.push_back(read_sample(entry.path()));
  }
  if (samples.empty()) throw Error(Exit::data, std::string("no JPEGs in ") + folder);
  std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.name < b.name; });
  // nvJPEG may round chroma and transforms another way than libjpeg; on the host only bytes are
  // rounded.
  const double bound = device == "cpu" ? 0.5 : 2;
  std::unique_ptr<CudaLibrary> library;
  std::unique_ptr<DeviceJpeg> decoder;
  if (device == "cpu") {
    decoder = std::make_unique<Rehearsal>(samples);
  } else {
    library = load_cuda_library();
    try {
      figure("nvJPEG", load_nvjpeg(*library));
    } catch (const Error& error) {
      not_here(error.what());
      return true;
    }
    decoder = library->make_jpeg_decoder(0);
  }
  bool all = true;
  for (const Sample& sample : samples) {
    const char* kinds[] = {", whole", ", a part scaled up", ", a mirrored window"};
    const std::vector<View> views = views_of(sample);
    for (size_t i = 0; i < views.size(); ++i) {
      all = compare(*decoder, sample, views[i], sample.name + kinds[i], bound) && all;
    }
  }
  const Sample& sample = samples.front();
  all = refuses(*decoder, sample, "a note, and no JPEG at all", sample.width, "a text") && all;
  return refuses(*decoder, sample, sample.file, sample.width + 1, "a file of another size than was said") && all;
}

}  // namespace trainyard::proof
