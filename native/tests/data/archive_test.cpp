// Tars of every dialect, whole and damaged, and any place of a gzip file.
#include <gmock/gmock.h>

#include <random>

#include "common/error.h"
#include "support.h"
#include "tar_support.h"
#include "trainer/data/archive/archive_bytes.h"
#include "trainer/data/archive/listing.h"
#include "trainer/data/archive/tar_reader.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Files = std::vector<std::pair<std::string, std::string>>;

class Archive : public ::testing::Test {
 protected:
  /// What a file with these bytes reads as: paths and contents.
  Files read(const std::string& bytes) const {
    const auto archive = open_archive_bytes(folder_.write("a.tar", bytes), {});
    TarReader reader(*archive, "a.tar", 0, archive->size());
    Files files;
    while (const auto entry = reader.next()) {
      std::string data(static_cast<size_t>(entry->size), '\0');
      EXPECT_EQ(archive->read(entry->offset, data.data(), data.size()), data.size());
      if (entry->kind == TarEntry::Kind::file) files.emplace_back(entry->path, data);
    }
    return files;
  }

  void expect_error(const std::string& bytes, const std::string& text) const {
    try {
      read(bytes);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }

  std::vector<std::string> listed(const std::string& bytes) const {
    const auto archive = open_archive_bytes(folder_.write("a.tar", bytes), {});
    std::vector<std::string> paths;
    for (const ListedImage& image : list_images(*archive, "a.tar", {})) paths.push_back(image.path);
    return paths;
  }

  TemporaryFolder folder_;
};

TEST_F(Archive, reads_ustar_with_prefixes_folders_and_links) {
  std::string prefixed = tar_entry("name", "3");
  prefixed.replace(345, 6, "a/long");
  mend_checksum(prefixed, 0);
  const std::string tar =
      tar_entry("a/", "", '5') + tar_entry("a/1", std::string(513, 'x')) + tar_entry("a/2", "", '2') + prefixed;
  EXPECT_THAT(read(tar + tar_end()), ElementsAre(Pair("a/1", std::string(513, 'x')), Pair("a/long/name", "3")));
}

TEST_F(Archive, reads_long_names_of_gnu_and_pax) {
  const std::string name = std::string(150, 'd') + "/" + std::string(150, 'f');
  const std::string record = " path=" + name + "\n";
  const std::string pax = std::to_string(record.size() + 3) + record + "12 size=000\n";
  ASSERT_EQ(pax.substr(0, 3), std::to_string(record.size() + 3));
  const std::string global = "20 comment=whatever\n";
  std::string wrong_size = tar_entry("short", "");  // pax says the same size, 0
  const std::string tar = tar_entry("././@LongLink", name + std::string(1, '\0'), 'L') + tar_entry("cut", "1") +
                          tar_entry("g", global, 'g') + tar_entry("x", pax, 'x') + wrong_size + tar_entry("next", "2");
  EXPECT_THAT(read(tar + tar_end()), ElementsAre(Pair(name, "1"), Pair(name, ""), Pair("next", "2")));
}

TEST_F(Archive, reads_sizes_in_base_256) {
  std::string entry = tar_entry("big", "four");
  entry.replace(124, 12, std::string("\x80\0\0\0\0\0\0\0\0\0\0\x04", 12));
  mend_checksum(entry, 0);
  EXPECT_THAT(read(entry + tar_end()), ElementsAre(Pair("big", "four")));
  entry.replace(124, 12, std::string("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12));
  mend_checksum(entry, 0);
  expect_error(entry + tar_end(), "is no number");
}

TEST_F(Archive, names_what_is_wrong) {
  const std::string tar = tar_entry("a", std::string(2000, 'x'));
  expect_error("", "is empty");
  expect_error("PK\3\4", "a zip archive");
  expect_error("<!DOCTYPE html>", "a page of HTML");
  expect_error(std::string("\xfd"
                           "7zXZ\0",
                           6),
               "compressed with xz");
  expect_error(tar, "no end mark");
  expect_error(tar.substr(0, 1500), "cut short within the entry");
  expect_error(std::string(5000, 'x'), "checksum of the header at byte 0");
  expect_error(tar + std::string(512, 'x'), "checksum of the header at byte 2560");
  expect_error(tar_entry("x", "9 path=", 'x') + tar + tar_end(), "pax header");
  expect_error(tar_entry("s", "", 'S') + tar_end(), "sparse");
}

TEST_F(Archive, survives_any_damage) {
  const std::string whole = tar_entry("././@LongLink", std::string(200, 'n') + ".jpg", 'L') +
                            tar_entry("a/1.jpg", "1") + tar_entry("x", "17 path=b/2.jpeg\n", 'x') +
                            tar_entry("b", "two") + tar_entry("c.tar", tar_of({{"3.png", "3"}})) + tar_end();
  ASSERT_THAT(listed(whole), ElementsAre("b/2.jpeg", "c/3.png", std::string(200, 'n') + ".jpg"));
  std::mt19937 random(1);
  int refused = 0;
  for (int round = 0; round < 1600; ++round) {
    std::string damaged = whole.substr(0, round % 4 == 0 ? random() % whole.size() : whole.size());
    for (unsigned i = 0; i < 1 + random() % 4 && !damaged.empty(); ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    // Right checksums let damage through to what lies behind them.
    for (size_t at = 0; round % 2 == 0 && at + 512 <= damaged.size(); at += 512) {
      if (damaged.substr(at + 257, 5) == "ustar") mend_checksum(damaged, at);
    }
    try {
      const auto archive = open_archive_bytes(folder_.write("a.tar", damaged), {});
      for (const ListedImage& image : list_images(*archive, "a.tar", {})) {
        if (image.size == ListedImage::kLink) continue;
        ASSERT_LE(image.offset, archive->size());
        ASSERT_LE(image.size, archive->size() - image.offset);
      }
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), Exit::data);
      ++refused;
    }
  }
  EXPECT_GT(refused, 400);
}

TEST_F(Archive, lists_images_also_of_inner_tars_the_later_of_two) {
  const std::string inner = tar_of({{"2.JPEG", "b"}, {"1.JPEG", "a"}});
  const std::string tar = tar_of({{"./z/1.png", "1"},
                                  {"n01.tar", inner},
                                  {"z/._1.png", ""},
                                  {"z/read.txt", "1"},
                                  {"z//1.png", "22"},
                                  {"/k/3.Jpg", "3"}});
  EXPECT_THAT(listed(tar), ElementsAre("k/3.Jpg", "n01/1.JPEG", "n01/2.JPEG", "z/1.png"));
  const auto archive = open_archive_bytes(folder_.write("a.tar", tar), {});
  EXPECT_EQ(list_images(*archive, "a.tar", {}).back().size, 2U);
}

/// Bytes that gzip neither leaves as they are nor makes nothing of.
std::string sample(size_t count) {
  std::mt19937 random(7);
  std::string bytes;
  while (bytes.size() < count) {
    const std::string run(1 + random() % 40, static_cast<char>('a' + random() % 26));
    for (int i = 0; i < 8; ++i) bytes += random() % 2 == 0 ? run : std::string(1, static_cast<char>(random()));
  }
  bytes.resize(count);
  return bytes;
}

TEST_F(Archive, reads_any_place_of_a_gzip_file) {
  const std::string bytes = sample(9'000'000);
  std::string file = gzipped(bytes.substr(0, 5'000'000));
  file += gzipped(bytes.substr(5'000'000, 1)) + gzipped("") + gzipped(bytes.substr(5'000'001), 1);
  for (const std::string& behind : {std::string(), std::string(1000, '\0')}) {
    int64_t said = 0;
    const auto archive =
        open_archive_bytes(folder_.write("a.gz", file + behind), [&](int64_t done, int64_t) { said = done; });
    EXPECT_EQ(said, static_cast<int64_t>((file + behind).size()));
    ASSERT_EQ(archive->size(), bytes.size());
    std::mt19937 random(3);
    for (int i = 0; i < 200; ++i) {
      const size_t offset = random() % bytes.size();
      std::string got(random() % 5 == 0 ? 100'000 : random() % 3000, '?');
      const std::string expected = bytes.substr(offset, got.size());
      got.resize(archive->read(offset, got.data(), got.size()));
      ASSERT_EQ(got, expected);
    }
    char rest[10];
    EXPECT_EQ(archive->read(bytes.size() - 3, rest, sizeof rest), 3U);
    EXPECT_EQ(archive->read(bytes.size(), rest, sizeof rest), 0U);
  }
}

TEST_F(Archive, refuses_gzip_files_that_are_cut_or_damaged) {
  const std::string file = gzipped(sample(3'000'000));
  for (const size_t size : {file.size() - 1, file.size() - 9, file.size() / 2, size_t{3}}) {
    expect_error(file.substr(0, size), "ends early");
  }
  std::string damaged = file;
  damaged[damaged.size() / 2] = static_cast<char>(~damaged[damaged.size() / 2]);
  expect_error(damaged, "is damaged");
  damaged = file;
  damaged[damaged.size() - 6] = static_cast<char>(~damaged[damaged.size() - 6]);  // of the checksum
  expect_error(damaged, "is damaged");
}

}  // namespace
}  // namespace trainyard
