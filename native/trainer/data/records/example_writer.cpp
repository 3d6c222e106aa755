#include <protozero/pbf_writer.hpp>

#include "trainer/data/records/example.h"

namespace trainyard {

namespace {

using protozero::pbf_writer;

// Field numbers of example.proto and feature.proto.
enum Feature : protozero::pbf_tag_type { bytes_list = 1, float_list = 2, int64_list = 3 };
constexpr protozero::pbf_tag_type example_features = 1;
constexpr protozero::pbf_tag_type features_entry = 1;
constexpr protozero::pbf_tag_type entry_key = 1;
constexpr protozero::pbf_tag_type entry_value = 2;
constexpr protozero::pbf_tag_type list_value = 1;

template <typename Fill>
void add_feature(pbf_writer& features, std::string_view name, protozero::pbf_tag_type kind, Fill&& fill) {
  pbf_writer entry(features, features_entry);
  entry.add_string(entry_key, name.data(), name.size());
  pbf_writer feature(entry, entry_value);
  pbf_writer list(feature, kind);
  fill(list);
}

void add_bytes(pbf_writer& features, std::string_view name, std::string_view value) {
  add_feature(features, name, bytes_list,
              [&](pbf_writer& list) { list.add_bytes(list_value, value.data(), value.size()); });
}

void add_numbers(pbf_writer& features, std::string_view name, const std::vector<int64_t>& values) {
  add_feature(features, name, int64_list,
              [&](pbf_writer& list) { list.add_packed_int64(list_value, values.begin(), values.end()); });
}

void add_number(pbf_writer& features, std::string_view name, int64_t value) { add_numbers(features, name, {value}); }

void add_boxes(pbf_writer& features, std::span<const Box> boxes, int64_t label) {
  const auto add = [&](const char* name, float Box::* side) {
    std::vector<float> values;
    for (const Box& box : boxes) values.push_back(box.*side);
    add_feature(features, name, float_list,
                [&](pbf_writer& list) { list.add_packed_float(list_value, values.begin(), values.end()); });
  };
  add("image/object/bbox/xmin", &Box::xmin);
  add("image/object/bbox/xmax", &Box::xmax);
  add("image/object/bbox/ymin", &Box::ymin);
  add("image/object/bbox/ymax", &Box::ymax);
  add_numbers(features, "image/object/bbox/label", std::vector<int64_t>(boxes.size(), label));
}

}  // namespace

std::string write_example(const ExampleImage& image) {
  std::string bytes;
  pbf_writer example(bytes);
  pbf_writer features(example, example_features);
  // The small ones first, so that a reader who wants the label need not read past the image.
  add_number(features, "image/class/label", image.label);
  add_bytes(features, "image/class/text", image.text);
  add_bytes(features, "image/filename", image.filename);
  add_bytes(features, "image/format", image.format);
  add_bytes(features, "image/colorspace", "RGB");
  add_number(features, "image/channels", 3);
  add_number(features, "image/height", image.height);
  add_number(features, "image/width", image.width);
  if (!image.boxes.empty()) add_boxes(features, image.boxes, image.label);
  add_bytes(features, "image/encoded", image.encoded);
  features.commit();
  return bytes;
}

}  // namespace trainyard
