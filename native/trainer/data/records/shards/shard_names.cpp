#include "trainer/data/records/shards/shard_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "common/error.h"

namespace trainyard {

namespace {

constexpr std::array<std::string_view, 3> kEndings{".tfrecords", ".tfrecord", ".tfrec"};
constexpr std::string_view kPacked = ".gz";
constexpr size_t kMostDigits = 7;

/// A file's name as a shard's: "flowers_train_00003-of-00016.tfrecord" is number 3 of 16 of
/// "flowers_train".
struct ShardName {
  std::string file;
  std::string set;  ///< the name without number and ending
  int number = -1;  ///< -1: the name says neither number nor count
  int count = 0;
};

enum class Kind : uint8_t { train, validation, test, other };

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits at the end of `text` off it.
std::optional<int> take_number(std::string_view& text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[text.size() - 1 - digits])) ++digits;
  if (digits < 2 || digits > kMostDigits) return std::nullopt;
  int value = 0;
  std::from_chars(text.data() + text.size() - digits, text.data() + text.size(), value);
  text.remove_suffix(digits);
  return value;
}

bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

bool take_ending(std::string_view& text) {
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view end) { return take_end(text, end); });
}

std::optional<ShardName> parse(const std::string& file) {
  ShardName name{file, {}, -1, 0};
  std::string_view rest = file;
  take_end(rest, kPacked);
  bool ending = take_ending(rest);
  std::string_view stem = rest;
  const auto count = take_number(stem);
  if (count && take_end(stem, "-of-")) {
    const auto number = take_number(stem);
    if (number && (take_end(stem, "-") || take_end(stem, "_")) && !stem.empty()) {
      name.number = *number;
      name.count = *count;
      rest = stem;
      take_ending(rest);  // TensorFlow Datasets' way: NAME.tfrecord-00000-of-00002
      ending = true;
    }
  }
  if (!ending || file.starts_with('.')) return std::nullopt;
  name.set = rest;
  return name;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      words.back() += static_cast<char>(std::tolower(byte));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  return words;
}

Kind kind_of(const ShardName& name) {
  for (const std::string& word : words_of(name.set)) {
    if (word == "train" || word == "training") return Kind::train;
    for (const std::string_view validation : {"validation", "valid", "val", "eval", "dev"}) {
      if (word == validation) return Kind::validation;
    }
    if (word == "test" || word == "testing") return Kind::test;
  }
  return Kind::other;
}

std::vector<ShardName> for_split(const std::string& folder, const std::vector<ShardName>& shards, Split split) {
  std::map<Kind, std::vector<ShardName>> kinds;
  for (const ShardName& shard : shards) kinds[kind_of(shard)].push_back(shard);
  if (kinds.size() == 1) return shards;
  const std::array<Kind, 2> wanted =
      split == Split::training ? std::array{Kind::train, Kind::other} : std::array{Kind::validation, Kind::test};
  for (const Kind kind : wanted) {
    if (kinds.contains(kind)) return kinds[kind];
  }
  throw Error(Exit::data, "cannot tell which TFRecord shards in " + folder + " are meant, as " + shards.front().file +
                              " and " + shards.back().file + ". Name them by how they begin, as in " + folder + "/" +
                              shards.front().set);
}

bool is_meant(const ShardName& shard, const std::string& wanted) {
  if (shard.file.starts_with(wanted)) return true;
  const auto words = words_of(shard.set);
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

/// A part of the data taken for the whole would be trained on in silence.
void check_complete(const std::string& folder, const std::vector<ShardName>& shards) {
  std::map<std::string, std::map<int, std::vector<bool>>> sets;
  for (const ShardName& shard : shards) {
    if (shard.number < 0) continue;
    std::vector<bool>& seen = sets[shard.set][shard.count];
    seen.resize(static_cast<size_t>(shard.count));
    if (shard.number < shard.count) seen[static_cast<size_t>(shard.number)] = true;
  }
  for (const auto& [set, counts] : sets) {
    if (counts.size() > 1) {
      throw Error(Exit::data, folder + " holds two sets of shards " + set + ", one of " +
                                  std::to_string(counts.begin()->first) + " files and one of " +
                                  std::to_string(counts.rbegin()->first) + ". Move one of them elsewhere");
    }
    const std::vector<bool>& seen = counts.begin()->second;
    const auto missing = std::find(seen.begin(), seen.end(), false);
    if (missing == seen.end()) continue;
    const auto many = std::count(seen.begin(), seen.end(), false);
    throw Error(Exit::data, std::to_string(many) + " of the " + std::to_string(seen.size()) + " shards " + set +
                                " in " + folder + (many == 1 ? " is" : " are") + " missing, the first one number " +
                                std::to_string(missing - seen.begin()) +
                                ". Copy what is missing, or rename the files to NAME.tfrecord without numbers if a "
                                "part is meant");
  }
}

/// The same images twice would be trained on in silence.
void check_packed_once(const std::string& folder, const std::vector<ShardName>& shards) {
  std::set<std::string> files;
  for (const ShardName& shard : shards) files.insert(shard.file);
  for (const ShardName& shard : shards) {
    const std::string packed = shard.file + std::string(kPacked);
    if (!files.contains(packed)) continue;
    throw Error(Exit::data,
                folder + " holds " + shard.file + " and " + packed + ", the same twice. Remove one of them");
  }
}

}  // namespace

bool is_shard_name(const std::string& file) { return parse(file).has_value(); }

bool names_shard(const std::string& wanted, const std::string& file) {
  const auto name = parse(file);
  return name && is_meant(*name, wanted);
}

std::vector<std::string> choose_shards(const std::string& folder, const std::vector<std::string>& files, Split split,
                                       const std::string& wanted) {
  std::vector<ShardName> shards;
  for (const std::string& file : files) {
    if (auto name = parse(file)) shards.push_back(*name);
  }
  if (shards.empty()) throw Error(Exit::data, "no TFRecord shards in " + folder + ". Check the path");
  std::sort(shards.begin(), shards.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  if (std::find(files.begin(), files.end(), wanted) != files.end()) return {wanted};
  std::vector<ShardName> chosen;
  if (wanted.empty()) {
    chosen = for_split(folder, shards, split);
  } else {
    std::copy_if(shards.begin(), shards.end(), std::back_inserter(chosen),
                 [&](const ShardName& shard) { return is_meant(shard, wanted); });
  }
  if (chosen.empty()) {
    throw Error(Exit::data, "no TFRecord shards " + wanted + " in " + folder + ", only such as " + shards.front().file +
                                ". Name them by how they begin");
  }
  check_packed_once(folder, chosen);
  check_complete(folder, chosen);
  std::vector<std::string> names;
  for (ShardName& name : chosen) names.push_back(std::move(name.file));
  return names;
}

}  // namespace trainyard
