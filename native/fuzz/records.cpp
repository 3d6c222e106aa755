// Shards of TFRecord and the Examples in them. The first byte chooses: the rest is a shard as it
// stands, or the data of one record, framed here, as mutations would hardly ever meet a checksum.
#include "common/record_frame.h"
#include "fuzz/target.h"
#include "trainer/data/images/image.h"
#include "trainer/data/records/example.h"
#include "trainer/data/records/shards/shard_scan.h"

namespace trainyard::fuzz {

namespace {

void scan(std::string_view shard) {
  const Descriptor fd = memory_file(shard);
  ShardScan scan(fd.get(), "shard", shard.size());
  uint64_t end = 0;
  while (const auto record = scan.next()) {
    require(record->offset == end, "records touch one another");
    end = scan.position();
    require(end > record->offset && end <= shard.size(), "a record lies in its shard");
    scan.text(*record);
    ScannedRecord boxed = *record;
    scan.boxes(boxed);
    if (record->length > 0) scan.is_sound(*record);
  }
  require(end == shard.size(), "the walk reaches the end");
}

void read(std::string_view example) {
  MemoryBytes bytes(example);
  const Range all{0, example.size()};
  try {
    const ExampleFields fields = read_example(bytes, all);
    for (const auto& part : {fields.image, fields.text}) {
      if (part) require(part->begin <= part->end && part->end <= all.end, "a feature lies in its record");
    }
    feature_names(bytes, all);
    for (const Box& box : read_example_boxes(bytes, all)) {
      require(box.xmin >= 0 && box.xmin < box.xmax && box.xmax <= 1, "a box lies in its image's width");
      require(box.ymin >= 0 && box.ymin < box.ymax && box.ymax <= 1, "a box lies in its image's height");
    }
  } catch (const BadImage&) {
    return;
  }
}

std::string example(int64_t label, std::string_view image, std::span<const Box> boxes = {}) {
  return write_example({.encoded = image,
                        .format = "JPEG",
                        .label = label,
                        .text = "circle",
                        .filename = "a.jpg",
                        .height = 8,
                        .width = 8,
                        .boxes = boxes});
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string one = example(3, "\xFF\xD8 not much of an image");
  const std::string two = example(-1, "");
  const std::vector<Box> boxes{{0.1F, 0.2F, 0.5F, 1}, {0, 0, 1, 1}};
  const std::string boxed = example(1, "\x89PNG", boxes);
  return {"S" + framed_record(one) + framed_record(two), "S", "E" + one, "E" + two, "E" + boxed};
}

void run(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  if (input.front() == 'S') return scan(rest);
  scan(framed_record(rest));
  read(rest);
}

}  // namespace trainyard::fuzz
