#include "agent/cluster/mirror_source.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "agent/cluster/file_wire.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kLookSeconds = 1;    // between two looks at the folder
constexpr double kSilentAtEnd = 15;   // of a mirror that may be without power, when a run is over
constexpr double kAfterFailure = 60;  // seconds without a mirror that could not write
constexpr double kBusyFileSeconds = 30;
constexpr double kLongestLook = 5;  // seconds, or one file, until the folder is looked at again

}  // namespace

/// One connection, from what the mirror has to its end.
class MirrorSource::Work : FileWire {
 public:
  Work(const RunFolder& folder, Shared& shared, Wire& wire) : FileWire(folder.dir(), wire), shared_(shared) {}

  /// Throws FileWireBroken.
  void run() {
    wait_until_asked();
    for (;;) {
      const int64_t look = begin_look();
      while (!bring_all()) {
      }
      end_look(look);
      const double until = monotonic_seconds() + kLookSeconds;
      wait_until([&] { return monotonic_seconds() >= until; });
    }
  }

 private:
  struct Copy {
    uint64_t size = 0;
    int64_t time = 0;
    uint64_t inode = 0;  ///< of the file here that was copied last; 0: not known
    double tried = 0;    ///< monotonic seconds; of a file that is written all the time
    bool is_known() const { return inode != 0 || size > 0 || time != 0; }
  };

  int64_t begin_look() {
    const std::scoped_lock lock(shared_.mutex);
    is_last_ = shared_.last;
    return ++shared_.begun;
  }

  void end_look(int64_t look) {
    const std::scoped_lock lock(shared_.mutex);
    shared_.done = look;
  }

  /// False where copying took so long that the folder is to be looked at again.
  bool bring_all() {
    const std::vector<MirroredFile> files = list();
    remove_gone(files);
    const double until = monotonic_seconds() + kLongestLook;
    bool in_time = true, reached_checkpoints = false;
    for (const MirroredFile& file : files) {
      in_time = monotonic_seconds() < until;
      if (!in_time) break;
      if (std::string checkpoint = mirrored_checkpoint(file.path); !checkpoint.empty()) {
        current_ = std::move(checkpoint);
        reached_checkpoints = true;
      }
      bring(file);
    }
    // What is large, or written all the time, must not keep them back.
    checkpoints_first_ = !in_time && !reached_checkpoints;
    if (in_time) current_.clear();
    remove_gone(files);
    const std::string checkpoint = newest_whole(files);
    pass({{"whole", in_time || !checkpoint.empty()}, {"time", in_time ? now_seconds() : time_of(files, checkpoint)}});
    const std::scoped_lock lock(shared_.mutex);
    if (!checkpoint.empty()) shared_.status.checkpoint = checkpoint;
    if (in_time) shared_.status.time = now_seconds();
    shared_.status.why.clear();
    return in_time;
  }

  /// A checkpoint that was begun comes before newer ones: else none would ever be whole where they
  /// follow one another faster than they are copied.
  std::vector<MirroredFile> list() const {
    std::vector<MirroredFile> files;
    try {
      files = list_mirrored(dir());
    } catch (const Error& error) {
      throw FileWireBroken(error.what(), true);
    }
    const auto is_run_file = [](const MirroredFile& file) { return file.path == "run.json"; };
    if (std::ranges::none_of(files, is_run_file)) throw FileWireBroken("the run folder has no run.json any more", true);
    const auto first =
        std::ranges::find_if(files, [](const MirroredFile& file) { return !mirrored_checkpoint(file.path).empty(); });
    if (!current_.empty()) {
      std::stable_partition(first, files.end(),
                            [this](const MirroredFile& file) { return mirrored_checkpoint(file.path) == current_; });
    }
    if (checkpoints_first_) std::rotate(files.begin(), first, files.end());
    return files;
  }

  /// Of a checkpoint's last file, seconds since the epoch.
  static double time_of(const std::vector<MirroredFile>& files, const std::string& checkpoint) {
    for (const MirroredFile& file : files) {
      if (is_manifest(file.path) && mirrored_checkpoint(file.path) == checkpoint) {
        return static_cast<double>(file.time) * 1e-9;
      }
    }
    return 0;
  }

  bool has(const MirroredFile& file) const {
    const auto copy = copies_.find(file.path);
    return copy != copies_.end() && copy->second.size == file.size && copy->second.time == file.time;
  }

  /// The newest of the head's checkpoints of which the mirror has all files; empty: none.
  std::string newest_whole(const std::vector<MirroredFile>& files) const {
    std::map<std::string, bool> whole;  // by name; those with a manifest
    for (const MirroredFile& file : files) {
      if (is_manifest(file.path)) whole[mirrored_checkpoint(file.path)] = true;
    }
    for (const MirroredFile& file : files) {
      const auto one = whole.find(mirrored_checkpoint(file.path));
      if (one != whole.end() && !has(file)) one->second = false;
    }
    for (auto one = whole.rbegin(); one != whole.rend(); ++one) {
      if (one->second) return one->first;
    }
    return "";
  }

  /// What the head has no more. Until the mirror has a checkpoint of the head's whole, the newest
  /// one that it has stays.
  void remove_gone(const std::vector<MirroredFile>& files) {
    std::set<std::string> there;
    for (const MirroredFile& file : files) there.insert(file.path);
    std::string kept;
    if (newest_whole(files).empty()) {
      for (const auto& [path, copy] : copies_) {
        if (is_manifest(path) && !there.contains(path)) kept = std::max(kept, mirrored_checkpoint(path));
      }
    }
    std::erase_if(copies_, [&](const auto& entry) {
      const bool stays = !kept.empty() && mirrored_checkpoint(entry.first) == kept;
      if (stays || there.contains(entry.first)) return false;
      say({{"kind", "remove"}, {"path", entry.first}});
      return true;
    });
  }

  void bring(const MirroredFile& file) {
    Copy& copy = copies_[file.path];
    const bool known = copy.is_known();
    if (file.grows) {
      // The figures of a machine are thinned with age: a file that was replaced is copied anew.
      const bool is_same = copy.inode == file.inode || (copy.inode == 0 && !file.path.starts_with("gpus/"));
      if (known && is_same && copy.size == file.size) return;
      copy_file(file, known && is_same && copy.size < file.size ? copy.size : 0, copy);
    } else if (!(known && copy.size == file.size && copy.time == file.time) && is_due(file, copy)) {
      copy_file(file, 0, copy);
      if (!file.is_done) copy.tried = monotonic_seconds();
    }
    if (!copy.is_known() && copy.tried == 0) copies_.erase(file.path);
  }

  /// A file that may be in the middle of being written is tried now and then.
  bool is_due(const MirroredFile& file, Copy& copy) const {
    if (file.is_done || is_last_) return true;
    const double now = monotonic_seconds();
    if (copy.tried == 0) copy.tried = now;
    return now - copy.tried >= kBusyFileSeconds;
  }

  void copy_file(const MirroredFile& file, uint64_t from, Copy& copy) {
    if (send(file, from)) copy = {file.size, file.time, file.inode, 0};
  }

  void has_file(const std::string& path, uint64_t size, int64_t time) override { copies_[path] = {size, time, 0, 0}; }

  void look() override {
    bool over = false;
    {
      const std::scoped_lock lock(shared_.mutex);
      over = shared_.over;
      if (shared_.wire) throw FileWireBroken("it connected anew", false);
    }
    if (!over) return;
    say_bye();
    throw FileWireBroken("the run is over", false);
  }

  double longest_silence() const override { return is_last_ ? kSilentAtEnd : FileWire::longest_silence(); }

  Shared& shared_;
  std::map<std::string, Copy> copies_;  ///< what the mirror has, by path
  std::string current_;                 ///< the checkpoint that is being copied, by its name
  bool is_last_ = false;
  bool checkpoints_first_ = false;  ///< the last look did not reach them
};

MirrorSource::MirrorSource(const RunFolder& folder)
    : shared_(std::make_shared<Shared>()), thread_(shared_, [folder, shared = shared_] { serve(folder, *shared); }) {}

void MirrorSource::serve(const RunFolder& folder, Shared& shared) {
  for (double not_before = 0;;) {
    std::unique_ptr<Wire> wire;
    {
      std::unique_lock lock(shared.mutex);
      shared.connected = false;
      shared.came.wait(lock, [&] { return shared.over || shared.wire; });
      const double pause = std::max(0.0, not_before - monotonic_seconds());
      shared.came.wait_for(lock, std::chrono::duration<double>(pause), [&] { return shared.over; });
      if (shared.over) return;
      wire = std::exchange(shared.wire, nullptr);
      shared.connected = true;
    }
    std::string why;
    bool is_refusal = false;
    try {
      Work(folder, shared, *wire).run();
    } catch (const FileWireBroken& broken) {
      why = broken.what();
      is_refusal = broken.is_refusal();
    } catch (const std::exception& error) {  // a message that no mirror of ours sends
      why = error.what();
      is_refusal = true;
    }
    not_before = is_refusal ? monotonic_seconds() + kAfterFailure : 0;
    const std::scoped_lock lock(shared.mutex);
    if (is_refusal) shared.status.why = why;  // of a lost connection the journal says enough
  }
}

MirrorSource::Status MirrorSource::status() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->status;
}

int64_t MirrorSource::last_look() {
  const std::scoped_lock lock(shared_->mutex);
  shared_->last = true;
  return shared_->begun + 1;
}

bool MirrorSource::is_done(int64_t look) const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->done >= look || !shared_->connected;
}

}  // namespace trainyard
