#include "agent/run/adopt_mirror.h"

#include <cstdio>
#include <filesystem>
#include <set>

#include "agent/run/folder/mirrored_files.h"
#include "agent/run/folder/run_content.h"
#include "agent/run/folder/shared_files.h"
#include "agent/run/journal.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr const char* kRunFile = "run.json";

void move_file(const std::string& from, const std::string& to) {
  make_private_folders(fs::path(to).parent_path().string());
  if (std::rename(from.c_str(), to.c_str()) != 0) throw file_error("move", from);
}

/// All but run.json, and checkpoints of which the manifest never came or went first.
void move_files(const std::string& from, const std::string& to) {
  const std::vector<MirroredFile> files = list_mirrored(from);
  std::set<std::string> whole;
  for (const MirroredFile& file : files) {
    if (is_manifest(file.path)) whole.insert(mirrored_checkpoint(file.path));
  }
  for (const MirroredFile& file : files) {
    const std::string checkpoint = mirrored_checkpoint(file.path);
    const bool is_part = !checkpoint.empty() && is_run_file(file.path) && !whole.contains(checkpoint);
    if (file.path == kRunFile || is_part) continue;
    move_file(from + "/" + file.path, to + "/" + file.path);
    remove_empty_parents(from, file.path);
  }
}

void remove_all(const std::string& path) {
  std::error_code failed;
  fs::remove_all(path, failed);
  if (failed) throw Error(Exit::data, "cannot remove " + path + ": " + failed.message());
}

/// What came here as a node's shared folder: the head has the newer one, and may have removed some.
void remove_shared(const RunFolder& folder) {
  for (const MirroredFile& file : SharedRecord(folder).unchanged()) {
    remove_all(folder.file(file.path));
    remove_empty_parents(folder.dir(), file.path);
  }
  remove_all(folder.file("share.json"));
}

void move_run_file(const std::string& from, const std::string& to) {
  move_file(from + "/" + kRunFile, to + "/" + kRunFile);
  sync_folder(to);
}

}  // namespace

void adopt_mirror(const RunFolder& folder, const std::string& host) {
  const std::string mirror = mirror_folder(folder);
  const bool has_copy = file_exists(mirror_note(folder)) && file_exists(mirror + "/" + kRunFile);
  const bool was_moved = file_exists(mirror_note(folder)) && file_exists(folder.run());
  if (!has_copy && !was_moved) {
    throw Error(Exit::data, "the copy of the run folder in " + mirror + " was never whole");
  }
  if (has_copy) {
    if (file_exists(folder.run())) {
      const std::string former = folder.file("former/" + std::to_string(static_cast<int64_t>(now_seconds())));
      move_files(folder.dir(), former);
      move_run_file(folder.dir(), former);
    }
    remove_shared(folder);
    move_files(mirror, folder.dir());
    Journal(folder.events()).event("head_changed", {{"from", head_of_run(RunFolder(mirror))}, {"to", host}});
    move_run_file(mirror, folder.dir());
  }
  for (const std::string& path : {mirror, mirror_part(folder), mirror_note(folder)}) remove_all(path);
}

}  // namespace trainyard
