#include "agent/run/folder/adopt_mirror.h"

#include <cstdio>
#include <filesystem>

#include "agent/run/folder/mirrored_files.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

void move_file(const std::string& from, const std::string& to) {
  make_private_folders(fs::path(to).parent_path().string());
  if (std::rename(from.c_str(), to.c_str()) != 0) throw file_error("move", from);
}

void move_files(const std::string& from, const std::string& to) {
  for (const MirroredFile& file : list_mirrored(from)) {
    if (file.path != "run.json") move_file(from + "/" + file.path, to + "/" + file.path);
  }
  move_file(from + "/run.json", to + "/run.json");
}

void remove_all(const std::string& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) throw Error(Exit::data, "cannot remove " + path + ": " + failed.message());
}

}  // namespace

void adopt_mirror(const RunFolder& folder) {
  const std::string mirror = mirror_folder(folder);
  if (!file_exists(mirror_note(folder)) || !file_exists(mirror + "/run.json")) {
    throw Error(Exit::data, "the copy of the run folder in " + mirror + " was never whole");
  }
  if (file_exists(folder.run())) {
    move_files(folder.dir(), folder.file("former/" + std::to_string(static_cast<int64_t>(now_seconds()))));
  }
  move_files(mirror, folder.dir());
  sync_folder(folder.dir());
  for (const std::string& path : {mirror, mirror_note(folder), mirror_part(folder)}) remove_all(path);
}

}  // namespace trainyard
