#include "trainer/checkpoint/file_output.h"

#include <algorithm>
#include <cerrno>

#include "common/error.h"

namespace trainyard {

namespace {

// Small enough that what was hashed is still in the cache when the kernel copies it.
constexpr size_t piece = size_t{1} << 20;

}  // namespace

FileOutput::FileOutput(FileSystem& files, const std::string& folder, const std::string& name)
    : files_(files), path_(folder + "/" + name), written_{name, 0, ""}, fd_(files.create_file(path_)) {
  if (!fd_) throw file_error("create", path_);
}

void FileOutput::append(std::string_view bytes) {
  while (!bytes.empty()) {
    std::string_view part = bytes.substr(0, piece);
    bytes.remove_prefix(part.size());
    hash_.update(part);
    written_.bytes += part.size();
    while (!part.empty()) {
      const ssize_t put = files_.write(fd_.get(), part.data(), part.size());
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) throw file_error("write", path_);
      part.remove_prefix(static_cast<size_t>(put));
    }
  }
}

ManifestFile FileOutput::finish() {
  if (files_.sync_file(fd_.get()) != 0) throw file_error("sync", path_);
  fd_ = Descriptor();
  written_.sha256 = hash_.finish_hex();
  return written_;
}

}  // namespace trainyard
