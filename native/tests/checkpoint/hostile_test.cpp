// Files made to harm: every one is refused with a reason, none crashes the reader or is read past
// its end.
#include <gmock/gmock.h>

#include <cstring>
#include <random>

#include "common/checkpoint/checkpoint_manifest.h"
#include "run_folder.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string file_of(const std::string& header, const std::string& data, std::optional<uint64_t> length = {}) {
  const uint64_t stated = length.value_or(header.size());
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &stated, 8);
  return bytes + header + data;
}

std::string tensor(const std::string& name, const std::string& shape, const std::string& offsets,
                   const std::string& dtype = "F32") {
  return "\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":[)" + shape + R"(],"data_offsets":[)" + offsets + "]}";
}

struct Hostile {
  std::string what;
  std::string bytes;
  std::string reason;
};

std::vector<Hostile> hostile_files() {
  const std::string eight(8, 'x');
  const auto with = [&](const std::string& header) { return file_of("{" + header + "}", eight); };
  const std::string nested = std::string(5'000'000, '[');
  return {
      {"nothing", "", "too short"},
      {"seven bytes", std::string(7, '\0'), "too short"},
      {"no header", std::string(8, '\0'), "does not begin with '{'"},
      {"length one past the end", file_of("{}", "", 3), "past its end"},
      {"length close to 2^64", file_of("{}", "", UINT64_MAX - 7), "too large"},
      {"length above the limit", file_of("{}", "", 100'000'001), "too large"},
      {"no JSON", file_of("{nonsense}", ""), "no JSON"},
      {"JSON cut short", file_of(R"({"a":{"dtype":"F32")", ""), "no JSON"},
      {"bytes after the JSON", file_of("{} {}", ""), "no JSON"},
      {"a list", file_of("[]", ""), "does not begin with '{'"},
      {"not UTF-8", file_of("{\"\xff\":1}", ""), "no JSON"},
      {"deep nesting", file_of("{\"a\":" + nested, ""), "a list out of place"},
      {"deep nesting of objects", file_of(R"({"__metadata__":{"a":{)", ""), "an object out of place"},
      {"a number for a tensor", with("\"a\":1"), "a number out of place"},
      {"a name twice", with(tensor("a", "1", "0,4") + "," + tensor("a", "1", "4,8")), "'a' twice"},
      {"a field twice", with(R"("a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]})"), "'dtype' twice"},
      {"a field missing", with(R"("a":{"dtype":"F32","shape":[2]})"), "without its dtype, shape or data_offsets"},
      {"an unknown field", with(R"("a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1})"), "unknown field 'x'"},
      {"an unknown type", with(tensor("a", "2", "0,8", "F3")), "unknown type 'F3'"},
      {"a negative extent", with(tensor("a", "-2", "0,8")), "a negative number"},
      {"a fractional extent", with(tensor("a", "2.0", "0,8")), "a fraction"},
      {"an extent of 2^63", with(tensor("a", "9223372036854775808", "0,8")), "a number too large"},
      {"an extent of 2^64", with(tensor("a", "18446744073709551616", "0,8")), "a fraction or a number too large"},
      {"a shape that overflows to 8 bytes", with(tensor("a", "4611686018427387904,4,2", "0,8")), "a shape too large"},
      {"a shape of another size", with(tensor("a", "3", "0,8")), "needs 12 bytes"},
      {"offsets the wrong way round", with(tensor("a", "2", "8,0")), "needs 8 bytes"},
      {"one offset", with(tensor("a", "2", "8")), "without two data_offsets"},
      {"past the end", with(tensor("a", "2", "1,9")), "go past its end"},
      {"far past the end", with(tensor("a", "2", "9223372036854775799,9223372036854775807")), "go past its end"},
      {"an overlap", with(tensor("a", "1", "0,4") + "," + tensor("b", "1", "2,6") + "," + tensor("c", "0", "8,8")),
       "overlap"},
      {"a gap", with(tensor("a", "1", "4,8")), "unused bytes"},
      {"data left over", with(tensor("a", "1", "0,4")), "4 bytes after the last tensor"},
      {"data of no tensor", with(""), "8 bytes after the last tensor"},
      {"a name that would break the line", with(tensor("a\\nb", "3", "0,8")), "'a?b'"},
  };
}

TEST(HostileSafetensors, are_refused_with_the_reason) {
  const RunFolder run(RunFolder::On::memory);
  const std::string path = run.path() + "/hostile.safetensors";
  for (const Hostile& hostile : hostile_files()) {
    SCOPED_TRACE(hostile.what);
    put_file(path, hostile.bytes);
    const std::string message = data_error([&] { LoadedTensors::read(path); });
    EXPECT_THAT(message, HasSubstr(hostile.reason));
    EXPECT_THAT(message, HasSubstr("hostile.safetensors"));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

// Reads a file that may be anything, and touches every byte of whatever was taken for a tensor.
bool reads(const std::string& path) {
  try {
    const LoadedTensors loaded = LoadedTensors::read(path);
    for (const LoadedTensors::Entry& entry : loaded.entries()) {
      if (entry.dtype == "F32") {
        std::vector<float> values((entry.end - entry.begin) / sizeof(float));
        loaded.copy(entry.name, entry.shape, values);
      } else if (entry.dtype == "I64" && entry.end - entry.begin == 8) {
        loaded.counter(entry.name);
      }
    }
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data) << error.what();
    return false;
  }
}

// One change at random: a bit, a byte, a cut, a doubled stretch, or a number put in place of
// another.
std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random); };
  const size_t changes = 1 + below(3);
  for (size_t i = 0; i < changes && !bytes.empty(); ++i) {
    const size_t at = below(bytes.size());
    const size_t length = 1 + below(std::min<size_t>(32, bytes.size() - at));
    switch (below(6)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      case 4:
        bytes.resize(at);
        break;
      default:
        constexpr std::string_view tokens[] = {
            "{", "}", "[", "]", ",", ":", "\"", "0", "9", "-", "1e9", "\\u0000", "18446744073709551615", "null"};
        bytes.insert(at, tokens[below(std::size(tokens))]);
    }
  }
  return bytes;
}

TEST(HostileSafetensors, no_mutation_crashes_the_reader) {
  const RunFolder run(RunFolder::On::memory);
  const SampleCheckpoint sample(10, 1);
  save_checkpoint(run.path(), sample.contents());
  const std::string whole = read_file(run.step(10) + "/model.safetensors");
  const std::string path = run.path() + "/mutated.safetensors";
  std::mt19937 random(20261121);
  int taken = 0;
  constexpr int rounds = 20000;
  for (int i = 0; i < rounds; ++i) {
    put_file(path, mutated(whole, random));
    taken += reads(path) ? 1 : 0;
  }
  EXPECT_GT(taken, 0);  // changes of the data alone make another good file
  EXPECT_LT(taken, rounds / 2);
}

TEST(HostileManifest, no_mutation_crashes_the_reader_or_passes_for_another) {
  const Manifest manifest{10,
                          1795258500.25,
                          "mlp",
                          2,
                          {{"model.safetensors", 300, std::string(64, 'a')}, {"state.json", 20, std::string(64, '0')}}};
  const std::string whole = manifest_text(manifest);
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = mutated(whole, random);
    try {
      const Manifest parsed = parse_manifest(text, "manifest.json");
      // Several changes at once may take the checksum away; as long as it is there, nothing else
      // may have changed.
      if (text.find("\"checksum\":") != std::string::npos) EXPECT_EQ(manifest_text(parsed), whole) << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::data);
    }
  }
}

TEST(HostileManifest, a_deep_one_is_refused) {
  const std::string deep =
      R"({"version":1,"checksum":"x","a":)" + std::string(400'000, '[') + std::string(400'000, ']') + "}";
  EXPECT_THAT(data_error([&] { parse_manifest(deep, "m.json"); }),
              HasSubstr("m.json is damaged: it is nested too deeply"));
}

TEST(HostileManifest, names_that_lead_elsewhere_are_refused) {
  for (const char* name : {"../model.safetensors", "/etc/passwd", "", ".", "..", "manifest.json"}) {
    nlohmann::json body = nlohmann::json::parse(manifest_text({1, 0, "m", 2, {{"x", 1, std::string(64, 'a')}}}));
    body["files"][0]["name"] = name;
    body.erase("checksum");
    EXPECT_THAT(data_error([&] { parse_manifest(body.dump(), "m.json"); }), HasSubstr("leads elsewhere")) << name;
  }
}

}  // namespace
}  // namespace trainyard
