// The files that native/proof compares devices by, which has no decoder of its own: images of the
// demonstration data in the ways cameras and the web write them, and what the host's decoder makes
// of each.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "jpeg_support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/images/plain_jpeg.h"
#include "trainer/data/pixels/demo_image.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

/// The upper left part of a demonstration image.
Samples demo(int width, int height, size_t shape) {
  Random random({shape});
  const Image image = draw_demo_image(shapes().at(shape), std::max(width, height), random);
  Samples samples{width, height, JCS_RGB, {}};
  for (int y = 0; y < height; ++y) {
    const auto row = image.pixels.begin() + static_cast<std::ptrdiff_t>(y) * image.width * 3;
    samples.values.insert(samples.values.end(), row, row + static_cast<std::ptrdiff_t>(width) * 3);
  }
  return samples;
}

void sampled(jpeg_compress_struct& compress, int across, int down) {
  compress.comp_info[0].h_samp_factor = across;
  compress.comp_info[0].v_samp_factor = down;
}

std::string ppm(const std::string& jpeg) {
  JpegDecoder decoder;
  Image image;
  decoder.decode(jpeg, 1 << 20, image);
  std::string file = "P6 " + std::to_string(image.width) + " " + std::to_string(image.height) + " 255\n";
  return file.append(image.pixels.begin(), image.pixels.end());
}

std::map<std::string, std::string> expected_files() {
  const std::map<std::string, std::string> jpegs{
      {"colours-420", encode(demo(75, 61, 0), [](auto& c) { sampled(c, 2, 2); })},
      {"colours-422-progressive", encode(demo(64, 96, 1),
                                         [](auto& c) {
                                           sampled(c, 2, 1);
                                           jpeg_simple_progression(&c);
                                         })},
      {"colours-444", encode(demo(48, 48, 2), [](auto& c) { sampled(c, 1, 1); })},
      {"grey", encode(demo(50, 37, 3), [](auto& c) { jpeg_set_colorspace(&c, JCS_GRAYSCALE); })},
  };
  std::map<std::string, std::string> files;
  for (const auto& [name, bytes] : jpegs) {
    EXPECT_TRUE(plain_jpeg(bytes)) << name;
    files[name + ".jpg"] = bytes;
    files[name + ".ppm"] = ppm(bytes);
  }
  return files;
}

TEST(ProofJpegs, AreThoseCommitted) {
  const auto expected = expected_files();
  if (const char* folder = std::getenv("TRAINYARD_PROOF_JPEGS")) {
    for (const auto& [name, bytes] : expected) std::ofstream(fs::path(folder) / name, std::ios::binary) << bytes;
  }
  std::map<std::string, std::string> committed;
  for (const auto& entry : fs::directory_iterator(TRAINYARD_PROOF_JPEGS_COMMITTED)) {
    std::ifstream file(entry.path(), std::ios::binary);
    committed[entry.path().filename().string()].assign(std::istreambuf_iterator<char>(file), {});
  }
  EXPECT_TRUE(committed == expected) << "Make them anew with TRAINYARD_PROOF_JPEGS=native/proof/jpegs";
}

}  // namespace
}  // namespace trainyard
