// Shards compressed by gzip are read as what they hold.
#include <gmock/gmock.h>
#include <zlib.h>

#include <cstdlib>

#include "common/error.h"
#include "common/record_frame.h"
#include "records_support.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/records/unpack.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string gzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  return packed;
}

/// 30 records of two labels; larger than the pieces that are unpacked at once.
std::string many_records(uint64_t first) {
  std::string shard;
  for (uint64_t i = first; i < first + 30; ++i) {
    shard += shard_of({write_example(
        {encode_jpeg(sample_image(150, 120, i), 95), "JPEG", static_cast<int64_t>(i % 2), "", "x.jpg", 120, 150})});
  }
  return shard;
}

std::string why_refused(const std::string& spec) {
  try {
    open_records_at(spec);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "it is not";
}

TEST(GzipRecords, come_back_as_they_were_written_under_any_name) {
  const TemporaryFolder folder;
  const std::vector<std::string> shards{many_records(0), many_records(30), many_records(60)};
  ASSERT_GT(shards[0].size(), size_t{300'000});
  const size_t half = shards[1].size() / 2;
  folder.write("packed/train-00000-of-00003", gzip(shards[0]));
  // Two members, as `cat a.gz b.gz` gives them, one of them empty, and one shard that was left as
  // it is.
  folder.write("packed/train-00001-of-00003.gz",
               gzip(shards[1].substr(0, half)) + gzip("") + gzip(shards[1].substr(half)));
  folder.write("packed/train-00002-of-00003", shards[2]);
  for (size_t i = 0; i < 3; ++i) folder.write("plain/train-0000" + std::to_string(i) + "-of-00003", shards[i]);
  const auto packed = open_records_at(folder.path() + "/packed");
  const auto plain = open_records_at(folder.path() + "/plain");
  EXPECT_EQ(labels_of(*packed), labels_of(*plain));
  ASSERT_EQ(packed->size(), 90U);
  for (size_t i = 90; i-- > 0;) ASSERT_EQ(packed->encoded(i), plain->encoded(i)) << i;
  LoaderOptions options;
  options.image_size = 16;
  options.batch = 8;
  options.threads = 4;
  const auto expected = take(*plain, options, 0, 12);
  const auto got = take(*packed, options, 0, 12);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].images, expected[i].images);
}

TEST(GzipRecords, that_are_damaged_are_refused_by_name) {
  const TemporaryFolder folder;
  const std::string good = gzip(many_records(0));
  const std::string name = folder.path() + "/d/a.tfrecord.gz";
  const auto refused = [&](const std::string& bytes) {
    folder.write("d/a.tfrecord.gz", bytes);
    return why_refused(folder.path() + "/d");
  };
  EXPECT_EQ(refused(good), "it is not");
  EXPECT_THAT(refused(good.substr(0, good.size() - 100'000)), AllOf(HasSubstr(name), HasSubstr("cut short. Copy it")));
  EXPECT_THAT(refused(good.substr(0, good.size() - 1)), HasSubstr("cut short"));
  std::string damaged = good;
  damaged[good.size() - 5] ^= 1;
  EXPECT_THAT(refused(damaged), AllOf(HasSubstr(name), HasSubstr("damaged: incorrect")));
  damaged = good;
  damaged[5000] ^= 1;
  EXPECT_NE(refused(damaged), "it is not");
  EXPECT_THAT(refused(good + "more"), HasSubstr("damaged"));
}

TEST(GzipRecords, want_a_folder_to_be_unpacked_into) {
  const TemporaryFolder folder;
  folder.write("d/a.tfrecord.gz", gzip(many_records(0)));
  const char* before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", (folder.path() + "/none").c_str(), 1);
  EXPECT_THAT(why_refused(folder.path() + "/d"), HasSubstr("a.tfrecord.gz, as TMPDIR is no folder"));
  if (before != nullptr) {
    ::setenv("TMPDIR", kept.c_str(), 1);
  } else {
    ::unsetenv("TMPDIR");
  }
  EXPECT_EQ(why_refused(folder.path() + "/d"), "it is not");
}

TEST(GzipRecords, beside_the_same_unpacked_are_refused) {
  const TemporaryFolder folder;
  folder.write("d/a.tfrecord", many_records(0));
  folder.write("d/a.tfrecord.gz", gzip(many_records(0)));
  EXPECT_THAT(why_refused(folder.path() + "/d"), HasSubstr("the same twice"));
}

TEST(GzipRecords, are_told_from_records_whose_length_looks_like_them) {
  const std::string record = framed_record(std::string(0x088b1f, 'x'));
  ASSERT_TRUE(record.starts_with("\x1f\x8b\x08"));
  EXPECT_FALSE(is_gzip(record.substr(0, kRecordHeader)));
  EXPECT_TRUE(is_gzip(gzip("something").substr(0, kRecordHeader)));
  EXPECT_FALSE(is_gzip(""));
}

}  // namespace
}  // namespace trainyard
