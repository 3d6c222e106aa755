// manifest.json: what makes a folder a whole checkpoint (docs/contracts/checkpoints.md).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/files.h"

namespace trainyard {

struct ManifestFile {
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;  ///< 64 lower-case hexadecimal digits
};

struct Manifest {
  int64_t step = 0;
  double time = 0;
  std::string model;
  int classes = 0;
  std::vector<ManifestFile> files;

  const ManifestFile* find(std::string_view name) const;
};

inline constexpr const char* manifest_name = "manifest.json";
inline constexpr const char* model_file_name = "model.safetensors";
inline constexpr const char* optimizer_file_name = "optimizer.safetensors";
inline constexpr const char* state_file_name = "state.json";

/// The text of manifest.json. Besides the contract's fields it carries `checksum`, the SHA-256 of
/// the others, so that a damaged manifest does not pass for another one.
std::string manifest_text(const Manifest& manifest);

/// Throws Error(Exit::data) naming `path` for a text that is no manifest, or whose checksum (where
/// it has one) differs.
Manifest parse_manifest(const std::string& text, const std::string& path);

/// FOLDER/manifest.json, which must list the three files of a checkpoint. Throws Error(Exit::data).
Manifest read_manifest(const std::string& folder);

/// FOLDER/<file.name>, to be read. Throws Error(Exit::data) naming it unless it is a regular file
/// of that size.
Descriptor open_file(const std::string& folder, const ManifestFile& file);

/// Throws Error(Exit::data) naming the file unless `digest` is the one of the manifest.
void check_digest(const std::string& folder, const ManifestFile& file, const std::string& digest);

}  // namespace trainyard
