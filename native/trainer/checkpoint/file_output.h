// One file of a checkpoint on its way to disk: hashed as it is written, durable once finished.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "common/checkpoint/checkpoint_manifest.h"
#include "common/files.h"
#include "common/hash/sha256.h"
#include "trainer/checkpoint/file_system.h"

namespace trainyard {

class FileOutput {
 public:
  /// Creates FOLDER/NAME, which must not exist. Throws file_error.
  FileOutput(FileSystem& files, const std::string& folder, const std::string& name);
  /// Writes all of `bytes`. Throws file_error.
  void append(std::string_view bytes);
  /// Syncs, closes, and says what was written. Throws file_error.
  ManifestFile finish();

 private:
  FileSystem& files_;
  std::string path_;
  ManifestFile written_;
  Descriptor fd_;
  Sha256 hash_;
};

}  // namespace trainyard
