#include "trainer/checkpoint/inspect.h"

#include <filesystem>

#include "common/error.h"
#include "trainer/checkpoint/manifest.h"

namespace trainyard {

namespace {

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

CheckpointInfo inspect_checkpoint(const std::string& folder, int64_t step, bool verify) {
  CheckpointInfo info{step, folder, bytes_in(folder), 0, false, ""};
  try {
    const Manifest manifest = read_manifest(folder);
    info.time = manifest.time;
    if (manifest.step != step)
      throw Error(Exit::data, folder + "/" + manifest_name + " is of step " + std::to_string(manifest.step) +
                                  ". Use another checkpoint");
    for (const ManifestFile& file : manifest.files) check_file(folder, file, verify);
    info.valid = true;
  } catch (const Error& error) {
    info.reason = error.what();
  }
  return info;
}

}  // namespace trainyard
