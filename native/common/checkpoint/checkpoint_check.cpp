#include "common/checkpoint/checkpoint_check.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/error.h"

namespace trainyard {

namespace {

constexpr int kPiecesAtOnce = 16;  // of 256 KiB

// For people only: what cannot be counted counts as nothing.
uint64_t bytes_in(const std::string& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    std::error_code missing;
    const uint64_t size = entries->is_regular_file(missing) ? entries->file_size(missing) : 0;
    if (!missing) bytes += size;
  }
  return bytes;
}

}  // namespace

CheckpointCheck::CheckpointCheck(const std::string& folder, int64_t step, bool verify)
    : info_{step, folder, bytes_in(folder), 0, false, ""} {
  try {
    Manifest manifest = read_manifest(folder);
    info_.time = manifest.time;
    if (manifest.step != step)
      throw Error(Exit::data, folder + "/" + manifest_name + " is of step " + std::to_string(manifest.step) +
                                  ". Use another checkpoint");
    for (const ManifestFile& file : manifest.files) open_file(folder, file);
    info_.valid = true;
    if (verify) manifest_ = std::move(manifest);
  } catch (const Error& error) {
    fail(error.what());
  }
}

bool CheckpointCheck::advance() {
  if (!info_.valid || next_ == manifest_.files.size()) return true;
  try {
    hash_some();
  } catch (const Error& error) {
    fail(error.what());
  }
  return !info_.valid || next_ == manifest_.files.size();
}

void CheckpointCheck::hash_some() {
  std::string piece(size_t{1} << 18, '\0');
  for (int pieces = 0; pieces < kPiecesAtOnce && next_ < manifest_.files.size(); ++pieces) {
    const ManifestFile& file = manifest_.files[next_];
    const std::string path = info_.path + "/" + file.name;
    if (!hash_) {
      open_ = open_file(info_.path, file);
      hash_.emplace();
    }
    const ssize_t got = ::read(open_.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path);
    if (got > 0) {
      hash_->update(std::string_view(piece).substr(0, static_cast<size_t>(got)));
      continue;
    }
    check_digest(info_.path, file, hash_->finish_hex());
    hash_.reset();
    ++next_;
  }
}

void CheckpointCheck::fail(const std::string& reason) {
  const size_t advice = reason.find(". Use another checkpoint");  // whoever looks for a checkpoint is about to
  info_.valid = false;
  info_.reason = reason.substr(0, advice);
  open_ = Descriptor();
}

CheckpointInfo inspect_checkpoint(const std::string& folder, int64_t step, bool verify) {
  CheckpointCheck check(folder, step, verify);
  while (!check.advance()) {
  }
  return check.info();
}

}  // namespace trainyard
