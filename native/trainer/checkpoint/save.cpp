#include <sys/stat.h>

#include <cerrno>

#include "common/checkpoint/checkpoint_folders.h"
#include "common/checkpoint/checkpoint_manifest.h"
#include "common/error.h"
#include "common/process.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/file_output.h"
#include "trainer/checkpoint/replaced.h"
#include "trainer/checkpoint/safetensors.h"

namespace trainyard {

namespace {

bool stands(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

void sync_folder_of(FileSystem& files, const std::string& path) {
  if (files.sync_folder(path) != 0) throw file_error("sync", path);
}

// Moves the finished temporary folder to its final name, and answers for it if that fails on the
// way.
class Placement {
 public:
  Placement(FileSystem& files, const std::string& folder, const std::string& name)
      : files_(files),
        folder_(folder),
        final_(folder + "/" + name),
        replaced_(folder + "/" + replaced_prefix + name),
        temporary_(folder + "/" + temporary_prefix + name) {}

  const std::string& final_path() const { return final_; }
  const std::string& temporary() const { return temporary_; }

  void put() {
    if (!stands(final_)) return put_new();
    if (files_.exchange(temporary_, final_) == 0) return finish_exchange();
    if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) throw file_error("replace", final_);
    put_in_two_steps();
  }

  // Removes what still stands under the temporary name, and says whether that worked. Where it did
  // not, it goes with the other leftovers at the next start: whether there is a checkpoint was
  // settled before.
  bool clear() noexcept {
    try {
      remove_tree(files_, temporary_);
      return true;
    } catch (const std::exception&) {
      return false;
    }
  }

  // After a failure; what could not be put back stays.
  void withdraw() noexcept {
    if (!temporary_holds_older_) clear();
  }

 private:
  void put_new() {
    if (files_.rename(temporary_, final_) != 0) throw file_error("create", final_);
    try {
      sync_folder_of(files_, folder_);
    } catch (const Error&) {
      files_.rename(final_, temporary_);  // for clear(); where it fails, a whole checkpoint stays
      throw;
    }
  }

  void finish_exchange() {
    temporary_holds_older_ = true;
    try {
      sync_folder_of(files_, folder_);
    } catch (const Error&) {
      if (files_.exchange(temporary_, final_) == 0) temporary_holds_older_ = false;
      throw;
    }
  }

  // Readers count the replaced folder while nothing stands under the final name (list.cpp).
  void put_in_two_steps() {
    if (files_.rename(final_, replaced_) != 0) throw file_error("replace", final_);
    try {
      put_new();
    } catch (const Error&) {
      if (!stands(final_)) files_.rename(replaced_, final_);  // where it fails, the replaced one counts
      throw;
    }
    files_.rename(replaced_, temporary_);  // for clear(); where it fails, the next save or prune settles it
  }

  FileSystem& files_;
  const std::string folder_;
  const std::string final_;
  const std::string replaced_;
  const std::string temporary_;
  bool temporary_holds_older_ = false;
};

uint64_t write_all_files(FileSystem& files, const std::string& folder, const CheckpointContents& contents,
                         double time) {
  Manifest manifest{contents.step, time, contents.model, contents.classes, {}};
  const auto write_file = [&](const char* name, auto&& fill) {
    FileOutput out(files, folder, name);
    fill(out);
    return out.finish();
  };
  manifest.files.push_back(write_file(
      model_file_name, [&](FileOutput& out) { write_safetensors(out, contents.counters, contents.tensors); }));
  manifest.files.push_back(
      write_file(optimizer_file_name, [&](FileOutput& out) { write_safetensors(out, {}, contents.optimizer); }));
  manifest.files.push_back(write_file(state_file_name, [&](FileOutput& out) {
    // A class may be named after a folder that is no UTF-8: not worth losing a checkpoint for.
    out.append(contents.state.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  }));
  uint64_t bytes = write_file(manifest_name, [&](FileOutput& out) { out.append(manifest_text(manifest)); }).bytes;
  for (const ManifestFile& file : manifest.files) bytes += file.bytes;
  return bytes;
}

}  // namespace

CheckpointInfo save_checkpoint(const std::string& run_dir, const CheckpointContents& contents, FileSystem& files) {
  if (contents.step < 0) throw Error(Exit::internal, "a checkpoint of a negative step. This is a defect");
  const std::string folder = checkpoints_folder(run_dir);
  if (files.make_folder(folder) == 0) {
    sync_folder_of(files, run_dir);
  } else if (errno != EEXIST) {
    throw file_error("create", folder);
  }
  settle_replaced(files, run_dir);
  Placement placement(files, folder, step_name(contents.step));
  remove_tree(files, placement.temporary());
  CheckpointInfo info{contents.step, placement.final_path(), 0, now_seconds(), true, ""};
  try {
    if (files.make_folder(placement.temporary()) != 0) throw file_error("create", placement.temporary());
    info.bytes = write_all_files(files, placement.temporary(), contents, info.time);
    sync_folder_of(files, placement.temporary());
    placement.put();
  } catch (...) {
    placement.withdraw();
    throw;
  }
  placement.clear();  // the older one, where one stood
  return info;
}

CheckpointInfo save_checkpoint(const std::string& run_dir, const CheckpointContents& contents) {
  FileSystem files;
  return save_checkpoint(run_dir, contents, files);
}

}  // namespace trainyard
