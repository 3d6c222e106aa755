// CIFAR's binary archives become shards. The archives are small ones of the same make: the real
// ones have 10,000 images a file and are not carried along.
#include <gmock/gmock.h>

#include "prep_fixture.h"
#include "tests/data/records/records_support.h"
#include "tests/data/tar_support.h"
#include "trainer/data/images/png.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;

using Files = std::vector<std::pair<std::string, std::string>>;

/// Any byte that depends on image, colour, row and column.
uint8_t pixel(int image, int colour, int row, int column) {
  return static_cast<uint8_t>(image * 37 + colour * 85 + row * 7 + column * 3);
}

/// A record: labels, then the red plane by rows, the green one, the blue one.
std::string record(const std::string& labels, int image) {
  std::string bytes = labels;
  for (int colour = 0; colour < 3; ++colour) {
    for (int row = 0; row < 32; ++row) {
      for (int column = 0; column < 32; ++column) bytes += static_cast<char>(pixel(image, colour, row, column));
    }
  }
  return bytes;
}

const std::string kTenNames = "airplane\nautomobile\nbird\n\n";  // the real file ends with an empty line too

Files cifar_10() {
  Files files{{"cifar-10-batches-bin/", ""}, {"cifar-10-batches-bin/batches.meta.txt", kTenNames}};
  for (int batch = 1; batch <= 5; ++batch) {
    files.emplace_back("cifar-10-batches-bin/data_batch_" + std::to_string(batch) + ".bin",
                       record(std::string(1, static_cast<char>(2 - batch % 3)), batch));
  }
  files.emplace_back("cifar-10-batches-bin/readme.html", "text");
  files.emplace_back("cifar-10-batches-bin/test_batch.bin",
                     record(std::string(1, '\1'), 8) + record(std::string(1, '\0'), 9));
  return files;
}

class PrepCifar : public PrepTest {
 protected:
  PrepCifar() { options_.shards = 1; }

  void give(const Files& files) { options_.from = folder_.write("cifar.tar.gz", gzipped(tar_of(files))); }

  /// Labels, and the numbers of the images whose pixels they have.
  std::vector<std::pair<int, int>> images(Split split) {
    const auto data = open_records_at(options_.to, std::nullopt, split);
    std::vector<std::pair<int, int>> found;
    for (size_t i = 0; i < data->size(); ++i) found.emplace_back(data->label(i), number_of(data->encoded(i)));
    return found;
  }

 private:
  static int number_of(const std::string& file) {
    Image image;
    decode_png(file, image);
    EXPECT_EQ(image.width, 32);
    EXPECT_EQ(image.height, 32);
    for (int number = 0; number < 10; ++number) {
      bool same = true;
      for (int i = 0; i < 3072; ++i) {
        same = same && image.pixels[static_cast<size_t>(i)] == pixel(number, i % 3, i / 96, i / 3 % 32);
      }
      if (same) return number;
    }
    return -1;
  }
};

TEST_F(PrepCifar, takes_the_ten_classes_as_the_archive_has_them) {
  give(cifar_10());
  const PrepSummary summary = prep(options_);
  EXPECT_THAT(summary.class_names, ElementsAre("airplane", "automobile", "bird"));
  EXPECT_EQ(summary.train_images, 5);
  EXPECT_EQ(summary.validation_images, 2);
  EXPECT_THAT(images(Split::training),
              ElementsAre(std::pair(0, 2), std::pair(0, 5), std::pair(1, 1), std::pair(1, 4), std::pair(2, 3)));
  EXPECT_THAT(images(Split::evaluation), ElementsAre(std::pair(0, 9), std::pair(1, 8)));
}

TEST_F(PrepCifar, takes_the_fine_classes_of_the_hundred) {
  give({{"cifar-100-binary/coarse_label_names.txt", "fish\n"},
        {"cifar-100-binary/fine_label_names.txt", "ray\r\nshark\r\n"},
        {"cifar-100-binary/test.bin", record({'\0', '\1'}, 4)},
        {"cifar-100-binary/train.bin", record({'\0', '\1'}, 6) + record({'\0', '\0'}, 7)}});
  EXPECT_THAT(prep(options_).class_names, ElementsAre("ray", "shark"));
  EXPECT_THAT(images(Split::training), ElementsAre(std::pair(0, 7), std::pair(1, 6)));
  EXPECT_THAT(images(Split::evaluation), ElementsAre(std::pair(1, 4)));
}

TEST_F(PrepCifar, names_what_is_wrong_with_an_archive) {
  Files files = cifar_10();
  files[4].second.pop_back();
  give(files);
  expect_error(Exit::data, "data_batch_3.bin in " + options_.from + " has 3072 bytes");
  files = cifar_10();
  files.back().second = record("\3", 1);
  give(files);
  expect_error(Exit::data, "image 0 of test_batch.bin in " + options_.from + " has the label 3");
  files.pop_back();
  give(files);
  expect_error(Exit::data, "has no file test_batch.bin");
  give({{"cifar-10-batches-py/batches.meta", "x"}, {"cifar-10-batches-py/data_batch_1", "x"}});
  expect_error(Exit::data, "Give cifar-10-binary.tar.gz");
  give({{"cifar-100-python/meta", "x"}, {"cifar-100-python/train", "x"}});
  expect_error(Exit::data, "Give cifar-100-binary.tar.gz");
}

TEST_F(PrepCifar, has_its_own_validation_half) {
  give(cifar_10());
  options_.validation = 0.5;
  expect_error(Exit::usage, "has a training and a validation half already");
  options_.validation = 0;
  EXPECT_EQ(prep(options_).validation_images, 0);
}

}  // namespace
}  // namespace trainyard
