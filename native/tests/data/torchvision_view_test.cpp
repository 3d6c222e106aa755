// Evaluation's pixels against those that Pillow made by torchvision's formulas
// (scripts/oracle/torchvision_view.py).
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "support.h"
#include "trainer/data/images/png.h"
#include "trainer/data/source.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string source;  ///< a file of the fixtures
  int size = 0;
  int resize = 0;  ///< 0: as the presets have it
  fs::path expected;
};

/// SOURCE@SIZE.png or SOURCE@SIZE-RESIZE.png
std::vector<Case> recorded() {
  std::vector<Case> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(TRAINYARD_FIXTURES) / "views")) {
    const std::string name = entry.path().filename().string();
    const size_t at = name.find('@');
    if (at == std::string::npos) continue;
    const size_t dash = name.find('-', at);
    const int resize = dash == std::string::npos ? 0 : std::stoi(name.substr(dash + 1));
    cases.push_back({name.substr(0, at), std::stoi(name.substr(at + 1)), resize, entry.path()});
  }
  return cases;
}

TEST(TorchvisionView, evaluation_sees_its_pixels) {
  const std::vector<Case> cases = recorded();
  ASSERT_GE(cases.size(), 14U);
  EXPECT_EQ(std::count_if(cases.begin(), cases.end(), [](const Case& test) { return test.resize > 0; }), 2);
  for (const Case& test : cases) {
    const TemporaryFolder folder;
    folder.write("a/" + test.source, bytes_of(test.expected.parent_path() / test.source));
    const auto data = open_dataset(folder.path(), test.size);
    LoaderOptions options;
    options.image_size = test.size;
    options.resize = test.resize;
    options.batch = 1;
    options.shuffle = false;
    options.augment = Augment::none;
    options.as_torchvision = true;
    const Batch batch = take(*data, options, 0, 1).front();
    Image expected;
    decode_png(bytes_of(test.expected), expected);
    ASSERT_EQ(batch.images.size(), expected.pixels.size()) << test.expected;
    EXPECT_EQ(difference(batch.images, expected.pixels), std::pair(0, 0)) << test.expected;
  }
}

}  // namespace
}  // namespace trainyard
