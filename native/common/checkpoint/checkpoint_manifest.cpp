#include "common/checkpoint/checkpoint_manifest.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/hash/sha256.h"

namespace trainyard {

namespace {

using nlohmann::json;

constexpr uint64_t largest_manifest = 1 << 20;
constexpr int deepest_manifest = 16;  // what walks the parsed text calls itself once a level

Error damaged(const std::string& path, const std::string& why) {
  return Error(Exit::data, path + " is damaged: " + why + ". Use another checkpoint");
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != manifest_name && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

bool is_digest(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

ManifestFile file_from(const json& value, const std::string& path) {
  ManifestFile file{value.at("name").get<std::string>(), 0, value.at("sha256").get<std::string>()};
  if (!value.at("bytes").is_number_unsigned()) throw damaged(path, "a size is no whole number");
  file.bytes = value.at("bytes").get<uint64_t>();
  if (!is_plain_name(file.name)) throw damaged(path, "a file's name leads elsewhere");
  if (!is_digest(file.sha256)) throw damaged(path, "the SHA-256 of " + file.name + " is none");
  return file;
}

// A regular file's size. Opened without waiting, for a pipe may stand in its place.
uint64_t open_regular(const std::string& path, Descriptor& fd) {
  fd = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw file_error("open", path);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) throw file_error("look at", path);
  if (!S_ISREG(status.st_mode)) throw damaged(path, "it is not a regular file");
  return static_cast<uint64_t>(status.st_size);
}

}  // namespace

const ManifestFile* Manifest::find(std::string_view name) const {
  const auto at = std::find_if(files.begin(), files.end(), [&](const ManifestFile& file) { return file.name == name; });
  return at == files.end() ? nullptr : &*at;
}

std::string manifest_text(const Manifest& manifest) {
  json list = json::array();
  for (const ManifestFile& file : manifest.files)
    list.push_back({{"name", file.name}, {"bytes", file.bytes}, {"sha256", file.sha256}});
  json body{{"version", 1},
            {"step", manifest.step},
            {"time", manifest.time},
            {"model", manifest.model},
            {"classes", manifest.classes},
            {"files", std::move(list)}};
  body["checksum"] = sha256_hex(body.dump());
  return body.dump() + "\n";
}

Manifest parse_manifest(const std::string& text, const std::string& path) {
  Manifest manifest;
  try {
    json body = json::parse(text, [&](int depth, json::parse_event_t, json&) {
      if (depth > deepest_manifest) throw damaged(path, "it is nested too deeply");
      return true;
    });
    if (body.at("version") != 1) throw damaged(path, "its version is not 1");
    const auto checksum = body.find("checksum");
    if (checksum != body.end()) {
      const json named = std::move(*checksum);
      body.erase(checksum);
      if (named != sha256_hex(body.dump())) throw damaged(path, "its own checksum differs");
    }
    if (!body.at("step").is_number_integer()) throw damaged(path, "its step is no whole number");
    manifest.step = body.at("step").get<int64_t>();
    manifest.time = body.at("time").get<double>();
    manifest.model = body.at("model").get<std::string>();
    if (!body.at("classes").is_number_integer()) throw damaged(path, "its classes are no whole number");
    manifest.classes = body.at("classes").get<int>();
    if (!body.at("files").is_array()) throw damaged(path, "its files are no list");
    for (const json& file : body.at("files")) {
      ManifestFile one = file_from(file, path);
      if (manifest.find(one.name) != nullptr) throw damaged(path, one.name + " stands in it twice");
      manifest.files.push_back(std::move(one));
    }
  } catch (const json::exception& error) {
    throw damaged(path, error.what());
  }
  return manifest;
}

Manifest read_manifest(const std::string& folder) {
  const std::string path = folder + "/" + manifest_name;
  Descriptor fd;
  if (open_regular(path, fd) > largest_manifest) throw damaged(path, "it is too large");
  Manifest manifest = parse_manifest(read_file(path), path);
  for (const char* name : {model_file_name, optimizer_file_name, state_file_name})
    if (manifest.find(name) == nullptr) throw damaged(path, std::string("it does not list ") + name);
  return manifest;
}

Descriptor open_file(const std::string& folder, const ManifestFile& file) {
  const std::string path = folder + "/" + file.name;
  Descriptor fd;
  const uint64_t bytes = open_regular(path, fd);
  if (bytes != file.bytes)
    throw damaged(path, "it has " + std::to_string(bytes) + " bytes, not " + std::to_string(file.bytes));
  return fd;
}

void check_digest(const std::string& folder, const ManifestFile& file, const std::string& digest) {
  if (digest != file.sha256) throw damaged(folder + "/" + file.name, "its SHA-256 differs from the manifest's");
}

}  // namespace trainyard
