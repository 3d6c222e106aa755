#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/checkpoint/checkpoint_manifest.h"
#include "common/error.h"
#include "common/files.h"
#include "common/hash/sha256.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/safetensors_header.h"

namespace trainyard {

namespace {

Error unusable(const std::string& path, const std::string& why) {
  return Error(Exit::data, path + ": " + why + ". Use an undamaged file of the right model");
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text.empty() ? "scalar" : text;
}

// Fills `to`, unless the file ends first. All that is read is hashed.
void read_exactly(const Descriptor& fd, std::string& to, Sha256& hash, const std::string& path) {
  constexpr size_t piece = size_t{1} << 20;
  for (size_t have = 0; have < to.size();) {
    const ssize_t got = ::read(fd.get(), to.data() + have, std::min(piece, to.size() - have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path);
    if (got == 0) throw unusable(path, "it ended while it was read");
    hash.update(std::string_view(to).substr(have, static_cast<size_t>(got)));
    have += static_cast<size_t>(got);
  }
}

// The manifest's entry for a file: required in a checkpoint's folder, heeded elsewhere where a
// manifest of ours lists it.
std::optional<ManifestFile> listed(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  std::string name = std::filesystem::canonical(folder, error).filename().string();
  if (name.starts_with(replaced_prefix)) name.erase(0, std::strlen(replaced_prefix));
  if (!step_of(name) && !std::filesystem::exists(folder / manifest_name, error)) return std::nullopt;
  try {
    const Manifest manifest = read_manifest(folder.string());
    const ManifestFile* entry = manifest.find(file.filename().string());
    if (entry != nullptr) return *entry;
  } catch (const Error&) {
    if (step_of(name)) throw;  // elsewhere it is some other program's manifest.json
  }
  return std::nullopt;
}

}  // namespace

LoadedTensors LoadedTensors::read(const std::string& given) {
  LoadedTensors loaded;
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(given, unknown);
  const std::string& path = loaded.path_ = is_folder ? given + "/" + model_file_name : given;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) throw file_error("open", path);
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) throw file_error("look at", path);
  if (!S_ISREG(status.st_mode)) throw unusable(path, "it is not a regular file");
  const uint64_t bytes = static_cast<uint64_t>(status.st_size);
  const std::optional<ManifestFile> expected = listed(path);
  if (is_folder && !expected) throw unusable(given, std::string("it is not a checkpoint: no ") + manifest_name);
  if (expected && expected->bytes != bytes)
    throw unusable(path, "it has " + std::to_string(bytes) + " bytes, not " + std::to_string(expected->bytes) +
                             " as its manifest says");

  Sha256 hash;
  if (bytes < 8) throw unusable(path, "it is too short for a safetensors file");
  std::string length_bytes(8, '\0');
  read_exactly(fd, length_bytes, hash, path);
  uint64_t length = 0;
  std::memcpy(&length, length_bytes.data(), sizeof length);
  if (length > largest_safetensors_header) throw unusable(path, "it is no safetensors file: the header is too large");
  if (length > bytes - 8) throw unusable(path, "its header goes past its end");
  std::string header(length, '\0');
  read_exactly(fd, header, hash, path);
  loaded.entries_ = parse_safetensors_header(header, bytes - 8 - length, path);
  loaded.data_.resize(bytes - 8 - length);
  read_exactly(fd, loaded.data_, hash, path);
  if (expected && hash.finish_hex() != expected->sha256)
    throw unusable(path, "its SHA-256 differs from its manifest's");
  return loaded;
}

const LoadedTensors::Entry* LoadedTensors::find(const std::string& name) const {
  const auto at =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  return at == entries_.end() ? nullptr : &*at;
}

const LoadedTensors::Entry& LoadedTensors::need(const std::string& name, const char* dtype) const {
  const Entry* entry = find(name);
  if (entry == nullptr) throw unusable(path_, "it has no tensor " + name);
  if (entry->dtype != dtype) throw unusable(path_, name + " is " + entry->dtype + ", not " + dtype);
  return *entry;
}

void LoadedTensors::copy(const std::string& name, const std::vector<int64_t>& shape, std::span<float> out) const {
  const Entry& entry = need(name, "F32");
  if (entry.shape != shape)
    throw unusable(path_, name + " has the shape " + shape_text(entry.shape) + ", not " + shape_text(shape));
  if (out.size_bytes() != entry.end - entry.begin)
    throw Error(Exit::internal, "the memory for " + name + " does not fit its shape. This is a defect");
  if (!out.empty()) std::memcpy(out.data(), data_.data() + entry.begin, out.size_bytes());
}

int64_t LoadedTensors::counter(const std::string& name) const {
  const Entry& entry = need(name, "I64");
  int64_t value = 0;
  if (entry.end - entry.begin != sizeof value) throw unusable(path_, name + " is not a single number");
  std::memcpy(&value, data_.data() + entry.begin, sizeof value);
  return value;
}

nlohmann::json read_checkpoint_state(const std::string& checkpoint) {
  const std::string path = checkpoint + "/" + state_file_name;
  const Manifest manifest = read_manifest(checkpoint);
  const ManifestFile& file = *manifest.find(state_file_name);
  open_file(checkpoint, file);
  const std::string text = read_file(path);
  check_digest(checkpoint, file, sha256_hex(text));
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw unusable(path, error.what());
  }
}

}  // namespace trainyard
