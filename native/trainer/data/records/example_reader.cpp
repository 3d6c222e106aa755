#include <algorithm>
#include <array>
#include <cstring>

#include "trainer/data/images/image.h"
#include "trainer/data/records/example.h"
#include "trainer/data/records/wire_reader.h"

namespace trainyard {

namespace {

using Type = WireReader::Type;

// Field numbers of example.proto and feature.proto.
constexpr uint64_t kExampleFeatures = 1;
constexpr uint64_t kFeaturesEntry = 1;
constexpr uint64_t kEntryKey = 1;
constexpr uint64_t kEntryValue = 2;
constexpr uint64_t kBytesList = 1;
constexpr uint64_t kFloatList = 2;
constexpr uint64_t kInt64List = 3;
constexpr uint64_t kListValue = 1;

constexpr size_t kLongestName = 256;  // none that is looked for is longer
constexpr size_t kNamesShown = 12;

// The names of the common tutorials, those that count most first.
constexpr std::array<std::string_view, 3> kImageNames{"image/encoded", "image", "image_raw"};
constexpr std::array<std::string_view, 3> kLabelNames{"image/class/label", "label", "class"};
constexpr std::array<std::string_view, 1> kTextNames{"image/class/text"};
constexpr std::array<std::string_view, 4> kBoxNames{"image/object/bbox/xmin", "image/object/bbox/ymin",
                                                    "image/object/bbox/xmax", "image/object/bbox/ymax"};

struct Entry {
  std::string name;  ///< empty where it is longer than any that is looked for
  std::optional<Range> feature;
};

Entry read_entry(ByteSource& source, Range range) {
  Entry entry;
  WireReader fields(source, range);
  while (fields.next()) {
    if (fields.is(kEntryKey, Type::bytes)) {
      const Range name = fields.range();
      entry.name = name.size() > kLongestName ? std::string()
                                              : std::string(source.look(name.begin, static_cast<size_t>(name.size())));
    } else if (fields.is(kEntryValue, Type::bytes)) {
      entry.feature = fields.range();
    }
  }
  return entry;
}

template <typename Visit>
void for_each_entry(ByteSource& source, Range record, Visit&& visit) {
  WireReader example(source, record);
  while (example.next()) {
    if (!example.is(kExampleFeatures, Type::bytes)) continue;
    WireReader features(source, example.range());
    while (features.next()) {
      if (features.is(kFeaturesEntry, Type::bytes)) visit(read_entry(source, features.range()));
    }
  }
}

/// The list in a Feature, of which one kind can be set, the last one given; nothing where it is of
/// another kind.
std::optional<Range> list_of(ByteSource& source, const Entry& entry, uint64_t kind) {
  std::optional<Range> list;
  if (!entry.feature) return list;
  WireReader feature(source, *entry.feature);
  while (feature.next()) {
    if (feature.type() != Type::bytes || feature.field() < kBytesList || feature.field() > kInt64List) continue;
    list = feature.field() == kind ? std::optional(feature.range()) : std::nullopt;
  }
  return list;
}

[[noreturn]] void refuse_several(const Entry& entry) {
  throw BadImage("its " + entry.name + " has several values; one was expected");
}

std::optional<Range> bytes_value(ByteSource& source, const Entry& entry) {
  std::optional<Range> value;
  const auto found = list_of(source, entry, kBytesList);
  if (!found) return value;
  WireReader list(source, *found);
  while (list.next()) {
    if (!list.is(kListValue, Type::bytes)) continue;
    if (value) refuse_several(entry);
    value = list.range();
  }
  return value;
}

std::optional<int64_t> int64_value(ByteSource& source, const Entry& entry) {
  std::optional<int64_t> value;
  const auto take = [&](uint64_t number) {
    if (value) refuse_several(entry);
    value = static_cast<int64_t>(number);
  };
  const auto found = list_of(source, entry, kInt64List);
  if (!found) return value;
  WireReader list(source, *found);
  while (list.next()) {
    if (list.is(kListValue, Type::varint)) take(list.number());
    if (!list.is(kListValue, Type::bytes)) continue;
    PackedReader packed(source, list.range());
    for (uint64_t number = 0; packed.next(number);) take(number);
  }
  return value;
}

std::vector<float> float_values(ByteSource& source, const Entry& entry) {
  std::vector<float> values;
  const auto take = [&](Range floats) {
    if (floats.size() % sizeof(float) != 0) throw BadImage("its " + entry.name + " ends within a number");
    if (values.size() + floats.size() / sizeof(float) > kMostBoxesOfImage) {
      throw BadImage("it has more than " + std::to_string(kMostBoxesOfImage) + " bounding boxes");
    }
    for (uint64_t at = floats.begin; at < floats.end; at += sizeof(float)) {
      const std::string_view bytes = source.look(at, sizeof(float));
      if (bytes.size() < sizeof(float)) throw BadImage("its " + entry.name + " is cut short");
      std::memcpy(&values.emplace_back(), bytes.data(), sizeof(float));  // little-endian, as all that this runs on
    }
  };
  const auto found = list_of(source, entry, kFloatList);
  if (!found) return values;
  WireReader list(source, *found);
  while (list.next()) {
    // Packed, or each with a tag of its own.
    if (list.is(kListValue, Type::bytes) || list.is(kListValue, Type::fixed32)) take(list.range());
  }
  return values;
}

/// Takes the value of an entry into `field` where its name counts as much as that which filled it,
/// or more.
template <size_t N, typename Field, typename Read>
void take(const std::array<std::string_view, N>& names, const Entry& entry, size_t& rank, Field& field, Read&& read) {
  const auto at = static_cast<size_t>(std::find(names.begin(), names.end(), entry.name) - names.begin());
  if (at == N || at > rank) return;
  auto value = read();
  if (!value) return;
  field = value;
  rank = at;
}

/// What a file says is shown on terminals: nothing but plain text goes there.
std::string printable(std::string text) {
  for (char& c : text) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text;
}

}  // namespace

ExampleFields read_example(ByteSource& source, Range record) {
  ExampleFields found;
  size_t image_rank = kImageNames.size();
  size_t label_rank = kLabelNames.size();
  size_t text_rank = kTextNames.size();
  for_each_entry(source, record, [&](const Entry& entry) {
    take(kImageNames, entry, image_rank, found.image, [&] { return bytes_value(source, entry); });
    take(kLabelNames, entry, label_rank, found.label, [&] { return int64_value(source, entry); });
    take(kTextNames, entry, text_rank, found.text, [&] { return bytes_value(source, entry); });
  });
  return found;
}

std::vector<Box> read_example_boxes(ByteSource& source, Range record) {
  std::array<std::vector<float>, 4> sides;
  for_each_entry(source, record, [&](const Entry& entry) {
    const auto at = static_cast<size_t>(std::find(kBoxNames.begin(), kBoxNames.end(), entry.name) - kBoxNames.begin());
    if (at < sides.size()) sides[at] = float_values(source, entry);
  });
  const auto& [xmin, ymin, xmax, ymax] = sides;
  for (const auto& side : sides) {
    if (side.size() != xmin.size()) throw BadImage("its image/object/bbox lists have different lengths");
  }
  std::vector<Box> boxes;
  for (size_t i = 0; i < xmin.size(); ++i) {
    if (const auto box = box_between(xmin[i], ymin[i], xmax[i], ymax[i])) boxes.push_back(*box);
  }
  return boxes;
}

std::string feature_names(ByteSource& source, Range record) {
  std::string names;
  size_t count = 0;
  for_each_entry(source, record, [&](const Entry& entry) {
    if (++count > kNamesShown + 1) return;
    names += (names.empty() ? "" : ", ") + (count > kNamesShown ? "..." : printable(entry.name));
  });
  return names.empty() ? "none" : names;
}

}  // namespace trainyard
