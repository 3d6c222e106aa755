// Damaged and hostile shards: each bad record is named, the others are used, and no length is
// believed.
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "common/error.h"
#include "common/hash/crc32c.h"
#include "common/record_frame.h"
#include "records_support.h"
#include "trainer/data/images/image.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr uint64_t kBytes = 1;
constexpr uint64_t kFloats = 2;
constexpr uint64_t kNumbers = 3;

std::string header(uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i));
  const uint32_t crc = mask_crc(crc32c(bytes));
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(crc >> (8 * i));
  return bytes;
}

/// Five records of labels 0 1 2 0 1, of which `damage` changes the file's bytes.
class Damage : public ::testing::Test {
 protected:
  Damage() {
    for (int i = 0; i < 5; ++i) {
      starts_.push_back(bytes_.size());
      bytes_ += shard_of({example_of(static_cast<uint64_t>(i), i % 3)});
    }
    options_.image_size = 16;
    options_.batch = 2;
    options_.shuffle = false;
    options_.max_bad_images = 1;
    options_.on_bad_image = [this](const std::string& path, const std::string& message) {
      bad_.push_back(path.substr(path.rfind('/') + 1) + ": " + message);
    };
    dataset_options_.on_note = [this](const std::string& line) { notes_.push_back(line); };
  }

  std::unique_ptr<Dataset> open() {
    folder_.write("train.tfrecord", bytes_);
    notes_.clear();
    return open_dataset(folder_.path(), 16, dataset_options_);
  }

  /// Reads all images, of which exactly one is bad, and says which and why.
  std::string only_problem() {
    const auto data = open();
    take(*data, options_, 0, make_loader(*data, options_)->steps_per_epoch());
    return bad_.size() == 1 ? bad_.front() : std::to_string(bad_.size()) + " problems";
  }

  std::string at(size_t record) const { return "train.tfrecord at byte " + std::to_string(starts_[record]); }

  TemporaryFolder folder_;
  std::string bytes_;
  std::vector<size_t> starts_;
  LoaderOptions options_;
  DatasetOptions dataset_options_;
  std::vector<std::string> bad_;
  std::vector<std::string> notes_;
};

TEST_F(Damage, in_an_image_is_found_by_its_sum) {
  bytes_[starts_[3] - 20] ^= 1;
  EXPECT_EQ(only_problem(), at(2) + ": the record is damaged: the checksum of its data is wrong");
}

TEST_F(Damage, in_a_sum_is_found) {
  bytes_[starts_[4] - 1] ^= 0x40;
  EXPECT_THAT(only_problem(), AllOf(HasSubstr(at(3)), HasSubstr("checksum of its data")));
}

TEST_F(Damage, in_a_label_makes_no_new_class) {
  const auto where = bytes_.find("image/class/label", starts_[4]) + std::string("image/class/label").size();
  const auto value = bytes_.find('\x01', where + 6);  // behind the tags and lengths of Feature, Int64List and list
  ASSERT_LT(value, bytes_.size());
  bytes_[value] = 99;
  const auto data = open();
  EXPECT_EQ(data->class_names().size(), 3U);
  EXPECT_THAT(only_problem(), AllOf(HasSubstr(at(4)), HasSubstr("checksum of its data")));
}

TEST_F(Damage, in_a_length_loses_that_record_alone_and_says_so) {
  bytes_[starts_[3]] ^= 1;
  EXPECT_EQ(open()->size(), 5U);
  const std::string lost = std::to_string(starts_[4] - starts_[3]) + " bytes are lost";
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr(at(3)), HasSubstr(lost), HasSubstr("about 1 record"))));
  EXPECT_THAT(only_problem(), AllOf(HasSubstr(at(3)), HasSubstr("checksum of its length"),
                                    HasSubstr("next sound record at byte " + std::to_string(starts_[4]))));
}

TEST_F(Damage, that_leaves_no_record_behind_it_counts_them_and_is_an_error_over_the_limit) {
  for (int i = 5; i < 20; ++i) {
    starts_.push_back(bytes_.size());
    bytes_ += shard_of({example_of(static_cast<uint64_t>(i), i % 3)});
  }
  starts_.push_back(bytes_.size());
  for (const size_t start : starts_) {
    if (start >= starts_[5] && start < bytes_.size()) bytes_[start] ^= 1;
  }
  EXPECT_EQ(open()->size(), 6U);  // one stands for all that are lost
  EXPECT_THAT(notes_, ElementsAre(AllOf(HasSubstr(at(5)), HasSubstr("up to the end of the shard"),
                                        HasSubstr("about 15 records"))));
  dataset_options_.max_bad_images = 14;
  try {
    open();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(at(5)), HasSubstr("about 15 images"), HasSubstr("--max-bad-images")));
  }
}

TEST_F(Damage, in_the_first_record_of_a_class_changes_no_name) {
  bytes_.clear();
  starts_.clear();
  const std::vector<std::string> names{"rose", "tulip", "daisy"};
  for (int i = 0; i < 9; ++i) {
    starts_.push_back(bytes_.size());
    bytes_ += shard_of({example_of(static_cast<uint64_t>(i), i % 3, names[static_cast<size_t>(i % 3)])});
  }
  const std::string whole = bytes_;
  for (size_t i = 20; i < starts_[1]; i += 7) {
    bytes_ = whole;
    bytes_[i] ^= 1;
    EXPECT_EQ(open()->class_names(), names) << i;
  }
}

TEST_F(Damage, a_last_record_that_was_cut_is_named_wherever_the_cut_is) {
  const std::string whole = bytes_;
  for (const size_t cut : {whole.size() - 1, whole.size() - 4, whole.size() - 5, starts_[4] + 13, starts_[4] + 12,
                           starts_[4] + 11, starts_[4] + 1}) {
    bytes_ = whole.substr(0, cut);
    bad_.clear();
    EXPECT_EQ(open()->size(), 5U);
    EXPECT_THAT(only_problem(), AllOf(HasSubstr(at(4)), HasSubstr("cut short"))) << cut;
  }
  bytes_ = whole.substr(0, starts_[4]);
  EXPECT_EQ(open()->size(), 4U);
}

TEST_F(Damage, beyond_the_limit_ends_the_run_and_names_the_record) {
  bytes_[starts_[1] + 40] ^= 1;
  bytes_[starts_[2] + 40] ^= 1;
  const auto data = open();
  try {
    take(*data, options_, 0, 3);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), AllOf(HasSubstr(at(2)), HasSubstr("--max-bad-images")));
  }
}

TEST_F(Damage, a_shard_that_changes_while_it_is_used_gives_bad_images_only) {
  const auto data = open();
  folder_.write("train.tfrecord", bytes_.substr(0, starts_[2]));
  EXPECT_EQ(data->encoded(1), small_jpeg(1));
  EXPECT_THROW(data->encoded(2), BadImage);
}

TEST_F(Damage, lengths_are_not_believed) {
  for (const uint64_t length :
       {uint64_t{1} << 20, uint64_t{1} << 40, ~uint64_t{0}, ~uint64_t{0} - 15, uint64_t{1} << 63}) {
    bytes_ = shard_of({example_of(1, 0)}) + header(length) + std::string(100, 'x');
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    const auto data = open();
    EXPECT_EQ(data->size(), 2U);
    EXPECT_THROW(data->encoded(1), BadImage);
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20'000) << length;  // KiB
  }
}

TEST_F(Damage, of_everything_says_what_the_first_record_is) {
  bytes_ = "not a TFRecord file at all, but a text that is long enough";
  try {
    open();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("at byte 0"), HasSubstr("checksum of its length")));
  }
  bytes_ = shard_of(
      {example(feature("height", kNumbers, bytes_field(1, varint(3))) + feature("la\x1b"
                                                                                "bels",
                                                                                kBytes, bytes_field(1, "x")))});
  try {
    open();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("no whole number image/class/label"), HasSubstr("height, la?bels")));
  }
  bytes_ = "";
  EXPECT_THROW(open(), Error);
}

// What a sound record may look like, and what not.

ExampleFields read(const std::string& message) {
  MemoryBytes source(message);
  return read_example(source, {0, message.size()});
}

const std::string& image() {
  static const std::string entry = feature("image/encoded", kBytes, bytes_field(1, "JPEG"));
  return entry;
}

TEST(ExampleReader, takes_packed_and_unpacked_labels_and_skips_what_it_does_not_know) {
  const std::string packed = feature("image/class/label", kNumbers, bytes_field(1, varint(300)));
  const std::string unpacked = feature("image/class/label", kNumbers, varint(1 << 3) + varint(300));
  const std::string negative = feature("image/class/label", kNumbers, bytes_field(1, varint(~uint64_t{0})));
  EXPECT_EQ(*read(example(image() + packed)).label, 300);
  EXPECT_EQ(*read(example(unpacked + image())).label, 300);
  EXPECT_EQ(*read(example(negative + image())).label, -1);
  const std::string unknown =
      varint(9 << 3) + varint(5) + bytes_field(8, "zz") + varint(7 << 3 | 5) + "abcd" + varint(6 << 3 | 1) + "abcdefgh";
  const ExampleFields fields = read(unknown + example(unknown + packed + image()) + unknown);
  EXPECT_EQ(*fields.label, 300);
  EXPECT_EQ(fields.image->size(), 4U);
}

TEST(ExampleReader, takes_the_names_of_other_tutorials_the_known_ones_first) {
  const auto label = [](const std::string& name, uint64_t value) {
    return feature(name, kNumbers, bytes_field(1, varint(value)));
  };
  const auto bytes = [](const std::string& name, const std::string& value) {
    return feature(name, kBytes, bytes_field(1, value));
  };
  EXPECT_EQ(*read(example(bytes("image", "I") + label("label", 7))).label, 7);
  EXPECT_EQ(*read(example(bytes("image_raw", "I") + label("class", 8))).label, 8);
  const ExampleFields both = read(example(bytes("image", "long one") + bytes("image/encoded", "short") +
                                          label("label", 1) + label("image/class/label", 2) + bytes("label", "rose")));
  EXPECT_EQ(both.image->size(), 5U);
  EXPECT_EQ(*both.label, 2);
  EXPECT_EQ(*read(example(label("label", 1) + label("label", 2))).label, 2);  // the last of the same name
}

TEST(ExampleReader, lists_of_another_kind_are_none) {
  EXPECT_FALSE(read(example(image() + feature("label", kFloats, bytes_field(1, "abcd")))).label);
  EXPECT_FALSE(read(example(feature("image", kNumbers, bytes_field(1, varint(3))))).image);
  EXPECT_FALSE(read(example(feature("label", kNumbers, ""))).label);
  EXPECT_FALSE(read("").label);
}

TEST(ExampleReader, refuses_several_labels) {
  EXPECT_THROW(read(example(feature("label", kNumbers, bytes_field(1, varint(1) + varint(2))))), BadImage);
}

TEST(ExampleReader, refuses_every_message_cut_short_or_damaged_or_reads_it_within_bounds) {
  const std::string whole = example(feature("image/class/label", kNumbers, bytes_field(1, varint(300))) + image() +
                                    feature("image/class/text", kBytes, bytes_field(1, "rose")));
  ASSERT_NO_THROW(read(whole));
  for (size_t cut = 1; cut < whole.size(); ++cut) EXPECT_THROW(read(whole.substr(0, cut)), BadImage) << cut;
  Random random({7});
  int refused = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::string damaged = whole;
    for (uint64_t k = random.below(4) + 1; k > 0; --k) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    damaged.resize(damaged.size() - random.below(3));
    const std::unique_ptr<char[]> exact(new char[damaged.size()]);  // so that a sanitizer sees every byte too far
    std::copy(damaged.begin(), damaged.end(), exact.get());
    MemoryBytes source({exact.get(), damaged.size()});
    try {
      const ExampleFields fields = read_example(source, {0, damaged.size()});
      for (const auto& range : {fields.image, fields.text}) {
        if (!range) continue;
        ASSERT_LE(range->begin, range->end);
        ASSERT_LE(range->end, damaged.size());
      }
    } catch (const BadImage&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 50'000);
  EXPECT_LT(refused, 200'000);
}

TEST(ExampleReader, refuses_what_is_no_wire_format) {
  EXPECT_THROW(read(varint(0)), BadImage);                                         // field 0
  EXPECT_THROW(read(varint(1 << 3 | 3)), BadImage);                                // a group
  EXPECT_THROW(read(varint(1 << 3 | 7)), BadImage);                                // no such type
  EXPECT_THROW(read(varint(uint64_t{1} << 40)), BadImage);                         // field 2^37
  EXPECT_THROW(read(varint(1 << 3 | 2) + varint(~uint64_t{0})), BadImage);         // a length over all bounds
  EXPECT_THROW(read(std::string(11, '\xff')), BadImage);                           // a number without end
  EXPECT_THROW(read(varint(1 << 3) + std::string(9, '\xff') + "\x02"), BadImage);  // more than 64 bits
}

TEST(RecordFrame, tells_a_length_from_a_damaged_one) {
  EXPECT_EQ(record_length(header(77)), 77U);
  EXPECT_FALSE(record_length(header(77).substr(1)));
  for (size_t i = 0; i < kRecordHeader; ++i) {
    std::string damaged = header(77);
    damaged[i] ^= 4;
    EXPECT_FALSE(record_length(damaged)) << i;
  }
}

}  // namespace
}  // namespace trainyard
