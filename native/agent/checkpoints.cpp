#include "agent/checkpoints.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "common/error.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr int kBlocksAtOnce = 64;  // of 64 KiB

/// The step of a folder named step-<8 or more digits>.
std::optional<int64_t> step_of(const std::string& name) {
  if (!name.starts_with("step-") || name.size() < 13 || name.size() > 20) return std::nullopt;
  const std::string digits = name.substr(5);
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return std::stoll(digits);
}

/// A manifest names files beside itself and nothing else.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

CheckpointListing::CheckpointListing(const RunFolder& folder) {
  std::vector<std::pair<int64_t, std::string>> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder.file("checkpoints"), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const std::string name = entry->path().filename().string();
    if (const auto step = step_of(name)) found.emplace_back(*step, name);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [step, name] : found) {
    Checkpoint checkpoint;
    checkpoint.step = step;
    checkpoint.path = "checkpoints/" + name;
    const size_t files_before = files_.size();
    try {
      read_manifest(folder.file(checkpoint.path), checkpoint);
    } catch (const FieldError& error) {
      checkpoint.reason = error.what();
    } catch (const Error& error) {
      checkpoint.reason = error.what();
    }
    if (checkpoint.reason) files_.resize(files_before);  // nothing to hash in what is known to be bad
    checkpoints_.push_back(checkpoint);
  }
}

void CheckpointListing::read_manifest(const std::string& dir, Checkpoint& checkpoint) {
  const Json json = parse_json(read_file(dir + "/manifest.json"));
  const Fields manifest(json, "manifest.json");
  checkpoint.time = manifest.number_or("time", 0, 0, 1e18);
  const Json* files = manifest.find("files");
  if (files == nullptr || !files->is_array() || files->empty()) throw FieldError("manifest.json names no files");
  for (const Json& entry : *files) {
    const Fields fields(entry, "manifest.json files");
    const std::string name = fields.string("name");
    if (!is_plain_name(name)) throw FieldError("manifest.json names a file outside its folder");
    const uint64_t bytes = static_cast<uint64_t>(fields.integer("bytes", 0, INT64_MAX));
    struct stat info{};
    if (::stat((dir + "/" + name).c_str(), &info) != 0) throw FieldError(name + " is missing");
    if (static_cast<uint64_t>(info.st_size) != bytes) {
      throw FieldError(name + " has " + std::to_string(info.st_size) + " bytes instead of " + std::to_string(bytes));
    }
    checkpoint.bytes += bytes;
    files_.push_back({checkpoints_.size(), name, dir + "/" + name, fields.string("sha256")});
  }
}

void CheckpointListing::finish_file(const File& file, const std::string& digest) {
  Checkpoint& checkpoint = checkpoints_[file.checkpoint];
  if (digest != file.sha256 && !checkpoint.reason)
    checkpoint.reason = file.name + " has another SHA-256 than its manifest says";
  hash_.reset();
  ++next_file_;
}

bool CheckpointListing::verify_some() {
  static_assert(kBlocksAtOnce > 0);
  std::array<char, 65536> block;
  for (int round = 0; round < kBlocksAtOnce; ++round) {
    if (next_file_ == files_.size()) return true;
    const File& file = files_[next_file_];
    if (!hash_) {
      hash_.emplace();
      open_ = Descriptor(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC));
    }
    const ssize_t got = open_ ? ::read(open_.get(), block.data(), block.size()) : -1;
    if (got < 0) {
      finish_file(file, "");
    } else if (got == 0) {
      finish_file(file, hash_->finish_hex());
    } else {
      hash_->update(std::string_view(block.data(), static_cast<size_t>(got)));
    }
  }
  return next_file_ == files_.size();
}

Json CheckpointListing::to_json() const {
  Json list = Json::array();
  for (const Checkpoint& one : checkpoints_) {
    list.push_back({{"step", one.step},
                    {"path", one.path},
                    {"bytes", one.bytes},
                    {"time", one.time},
                    {"valid", !one.reason.has_value()},
                    {"reason", one.reason ? Json(*one.reason) : Json(nullptr)}});
  }
  return {{"checkpoints", list}};
}

}  // namespace trainyard
