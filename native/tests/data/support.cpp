#include "support.h"

#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "trainer/data/images/jpeg.h"

namespace trainyard {

namespace fs = std::filesystem;

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "trainyard-data-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string TemporaryFolder::write(const std::string& name, const std::string& bytes) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path.string();
}

std::string TemporaryFolder::make(const std::string& name) const {
  fs::create_directories(fs::path(path_) / name);
  return path_ + "/" + name;
}

Image sample_image(int width, int height, uint64_t seed) {
  Random random({seed});
  Image image{width, height, {}};
  const double turns[] = {random.uniform(0.02, 0.3), random.uniform(0.02, 0.3), random.uniform(0.02, 0.3)};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const double turn : turns) {
        const double wave = 128 + 90 * std::sin(turn * x + static_cast<double>(seed)) * std::cos(turn * 0.7 * y);
        image.pixels.push_back(static_cast<uint8_t>(wave + random.uniform(-20, 20)));
      }
    }
  }
  return image;
}

void write_samples(const TemporaryFolder& folder, int classes, int images, int width, int height) {
  for (int c = 0; c < classes; ++c) {
    for (int i = 0; i < images; ++i) {
      const auto seed = static_cast<uint64_t>(c * 1000 + i);
      folder.write("class" + std::to_string(c) + "/" + std::to_string(100 + i) + ".jpg",
                   encode_jpeg(sample_image(width, height, seed), 90));
    }
  }
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::pair<int, int> difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b) {
  int count = 0;
  int most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int by = std::abs(int{a[i]} - int{b[i]});
    count += by > 0 ? 1 : 0;
    most = std::max(most, by);
  }
  return {count, most};
}

std::vector<Batch> take(const Dataset& dataset, const LoaderOptions& options, int64_t first, int64_t steps) {
  const auto loader = make_loader(dataset, options);
  std::vector<Batch> batches;
  for (int64_t step = first; step < first + steps; ++step) batches.push_back(loader->next(step));
  return batches;
}

}  // namespace trainyard
