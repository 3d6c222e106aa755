#include "records_support.h"

#include "common/record_frame.h"
#include "trainer/data/images/jpeg.h"

namespace trainyard {

std::string small_jpeg(uint64_t seed) { return encode_jpeg(sample_image(20, 18, seed), 80); }

std::string example_of(uint64_t seed, int64_t label, const std::string& text) {
  const std::string jpeg = small_jpeg(seed);
  return write_example({jpeg, "JPEG", label, text, "x.jpg", 18, 20});
}

std::string shard_of(const std::vector<std::string>& examples) {
  std::string shard;
  for (const std::string& text : examples) shard += framed_record(text);
  return shard;
}

std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}

std::string bytes_field(uint64_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string feature(const std::string& name, uint64_t kind, const std::string& list) {
  return bytes_field(1, bytes_field(1, name) + bytes_field(2, bytes_field(kind, list)));
}

std::string example(const std::string& entries) { return bytes_field(1, entries); }

std::unique_ptr<Dataset> open_records_at(const std::string& spec, std::optional<int64_t> label_offset, Split split) {
  DatasetOptions options;
  options.label_offset = label_offset;
  options.split = split;
  return open_dataset(spec, 16, options);
}

std::vector<int> labels_of(const Dataset& data) {
  std::vector<int> labels;
  for (size_t i = 0; i < data.size(); ++i) labels.push_back(data.label(i));
  return labels;
}

}  // namespace trainyard
