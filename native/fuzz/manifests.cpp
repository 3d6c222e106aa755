// A checkpoint's manifest.json: a folder that a person copied there, or half of one after a power
// loss.
#include <algorithm>

#include "common/checkpoint/checkpoint_manifest.h"
#include "common/error.h"
#include "common/hash/sha256.h"
#include "fuzz/target.h"

namespace trainyard::fuzz {

std::vector<std::string> seeds() {
  Manifest manifest{120, 1795258500.25, "resnet20", 5, {}};
  for (const char* name : {model_file_name, optimizer_file_name, state_file_name}) {
    manifest.files.push_back({name, 1'104'000, sha256_hex(name)});
  }
  const std::string text = manifest_text(manifest);
  const size_t checksum = text.find("\"checksum\"");  // optional for readers: without it, changes get further in
  std::string plain = text;
  plain.erase(checksum, text.find(',', checksum) + 1 - checksum);
  return {text, plain};
}

void run(std::string_view input) {
  Manifest manifest;
  try {
    manifest = parse_manifest(std::string(input), "manifest.json");
  } catch (const Error& error) {
    require(error.code() == Exit::data, "a bad manifest is the data's fault");
    return;
  }
  for (const ManifestFile& file : manifest.files) {
    require(!file.name.empty() && file.name.find('/') == std::string::npos, "a file lies in the folder itself");
    require(file.name != "." && file.name != ".." && file.name != manifest_name, "a file is not the folder");
    require(file.sha256.size() == 64, "a digest is whole");
    require(manifest.find(file.name) == &file, "a name stands for one file");
  }
  const Manifest again = parse_manifest(manifest_text(manifest), "manifest.json");
  require(again.step == manifest.step && again.model == manifest.model && again.classes == manifest.classes,
          "what was written is read as the same");
  require(std::equal(again.files.begin(), again.files.end(), manifest.files.begin(), manifest.files.end(),
                     [](const ManifestFile& a, const ManifestFile& b) {
                       return a.name == b.name && a.bytes == b.bytes && a.sha256 == b.sha256;
                     }),
          "what was written lists the same files");
}

}  // namespace trainyard::fuzz
