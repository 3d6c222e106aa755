// What the data tests share: a folder of their own, and images to put into it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "trainer/base/random.h"
#include "trainer/data/images/image.h"
#include "trainer/data/source.h"

namespace trainyard {

/// A new folder, removed with all that is in it at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  /// Makes the folders above as well; returns the whole path.
  std::string write(const std::string& name, const std::string& bytes) const;
  std::string make(const std::string& name) const;

 private:
  std::string path_;
};

/// Smooth colours with some noise, so that neither resizing nor coding is trivial.
Image sample_image(int width, int height, uint64_t seed);

/// A folder data set of `classes` x `images` sample images.
void write_samples(const TemporaryFolder& folder, int classes, int images, int width = 40, int height = 36);

/// The whole file.
std::string bytes_of(const std::filesystem::path& path);

/// How many bytes differ, and by how much at most.
std::pair<int, int> difference(const std::vector<uint8_t>& a, const std::vector<uint8_t>& b);

/// All batches of `steps` steps from `first` on.
std::vector<Batch> take(const Dataset& dataset, const LoaderOptions& options, int64_t first, int64_t steps);

}  // namespace trainyard
