#include "agent/cluster/mirror_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "agent/messages/base64.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr size_t kPiece = 96 << 10;          // bytes of a file in one message
constexpr uint64_t kUnconfirmed = 2U << 20;  // bytes on their way, at most
constexpr size_t kHighWater = 512 << 10;     // bytes waiting to be sent, at most
constexpr double kBeatSeconds = 1;           // between signs of life
constexpr double kLookSeconds = 1;           // between two looks at the folder
constexpr double kSilentSeconds = 60;        // of a mirror whose disk is slow
constexpr double kSilentAtEnd = 15;          // of one that may be without power, when a run is over
constexpr double kAfterFailure = 60;         // seconds without a mirror that could not write
constexpr double kBusyFileSeconds = 30;
constexpr double kLongestLook = 5;  // seconds, or one file, until the folder is looked at again
constexpr double kByeSeconds = 1;
constexpr double kEndSeconds = 2;
constexpr int kTickMs = 100;

/// The mirror is gone, or is to be left alone for now.
class Broken : public std::runtime_error {
 public:
  Broken(const std::string& why, bool is_refusal) : std::runtime_error(why), is_refusal_(is_refusal) {}
  bool is_refusal() const { return is_refusal_; }

 private:
  bool is_refusal_;  ///< the mirror said so itself
};

}  // namespace

/// One connection, from what the mirror has to its end.
class MirrorSource::Work {
 public:
  Work(const RunFolder& folder, Shared& shared, Wire& wire) : dir_(folder.dir()), shared_(shared), wire_(wire) {}

  /// Throws Broken.
  void run() {
    wait_until([this] { return asked_; });
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
    passed_ = false;
    say({{"kind", "pass"},
         {"whole", in_time || !checkpoint.empty()},
         {"time", in_time ? now_seconds() : time_of(files, checkpoint)}});
    wait_until([this] { return passed_; });
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
      files = list_mirrored(dir_);
    } catch (const Error& error) {
      throw Broken(error.what(), true);
    }
    const auto is_run_file = [](const MirroredFile& file) { return file.path == "run.json"; };
    if (std::ranges::none_of(files, is_run_file)) throw Broken("the run folder has no run.json any more", true);
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
      send(file, known && is_same && copy.size < file.size ? copy.size : 0, copy);
    } else if (!(known && copy.size == file.size && copy.time == file.time) && is_due(file, copy)) {
      send(file, 0, copy);
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

  /// The bytes from `from` on. Where the file changed or went meanwhile, the mirror keeps what it
  /// had, and the next look finds the new one.
  void send(const MirroredFile& file, uint64_t from, Copy& copy) {
    const std::string path = dir_ + "/" + file.path;
    const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat opened{};
    if (!fd || ::fstat(fd.get(), &opened) != 0 || opened.st_ino != file.inode) return;
    say({{"kind", "put"},
         {"path", file.path},
         {"from", from},
         {"size", file.size},
         {"time", file.time},
         {"runs", file.runs}});
    std::string piece(kPiece, '\0');
    uint64_t at = from;
    while (at < file.size) {
      const size_t wanted = std::min<uint64_t>(piece.size(), file.size - at);
      const ssize_t got = ::pread(fd.get(), piece.data(), wanted, static_cast<off_t>(at));
      if (got <= 0) break;
      say({{"kind", "data"}, {"data", base64(std::string_view(piece).substr(0, static_cast<size_t>(got)))}});
      at += static_cast<uint64_t>(got);
      sent_ += static_cast<uint64_t>(got);
      wait_until([this] { return sent_ - confirmed_ <= kUnconfirmed && wire_.waiting() <= kHighWater; });
    }
    struct stat now{};
    const bool is_whole =
        at == file.size && ::fstat(fd.get(), &now) == 0 &&
        (file.grows || (static_cast<uint64_t>(now.st_size) == file.size && time_written(now) == file.time));
    say({{"kind", is_whole ? "end" : "drop"}});
    if (is_whole) copy = {file.size, file.time, file.inode, 0};
  }

  void say(const Json& message) { wire_.send(message); }

  template <typename Condition>
  void wait_until(const Condition& condition) {
    for (;;) {
      if (!wire_.pump()) throw Broken(wire_.why(), false);
      while (const auto message = wire_.next()) take(*message);
      if (!wire_.why().empty()) throw Broken(wire_.why(), false);
      bool over = false;
      {
        const std::scoped_lock lock(shared_.mutex);
        over = shared_.over;
        if (shared_.wire) throw Broken("it connected anew", false);
      }
      if (over) say_bye();
      const double now = monotonic_seconds();
      if (now >= next_beat_) {
        next_beat_ = now + kBeatSeconds;
        say({{"kind", "beat"}});
      }
      if (condition()) return;
      if (now - wire_.heard() > (is_last_ ? kSilentAtEnd : kSilentSeconds)) {
        throw Broken("nothing was heard from it for long", false);
      }
      pollfd end{wire_.fd(), static_cast<short>(POLLIN | (wire_.waiting() > 0 ? POLLOUT : 0)), 0};
      ::poll(&end, 1, kTickMs);
    }
  }

  /// The mirror need not wait for more.
  [[noreturn]] void say_bye() {
    say({{"kind", "bye"}});
    const double deadline = monotonic_seconds() + kByeSeconds;
    while (wire_.pump() && wire_.waiting() > 0 && monotonic_seconds() < deadline) sleep_ms(10);
    throw Broken("the run is over", false);
  }

  void take(const Json& message) {
    const Fields fields(message, "message");
    const std::string kind = fields.string("kind");
    if (kind == "have") {
      const Json* files = fields.find("files");
      if (files == nullptr || !files->is_array()) throw FieldError("it names no files");
      for (const Json& one : *files) {
        if (!one.is_array() || one.size() != 3 || !one[0].is_string() || !one[1].is_number_unsigned() ||
            !one[2].is_number_integer()) {
          throw FieldError("a file of it is none");
        }
        copies_[one[0].get<std::string>()] = {one[1].get<uint64_t>(), one[2].get<int64_t>(), 0, 0};
      }
    } else if (kind == "ask") {
      asked_ = true;
    } else if (kind == "got") {
      confirmed_ = static_cast<uint64_t>(fields.integer("bytes", 0, INT64_MAX));
    } else if (kind == "passed") {
      passed_ = true;
    } else if (kind == "failed") {
      throw Broken(fields.string("why"), true);
    }
  }

  std::string dir_;
  Shared& shared_;
  Wire& wire_;
  std::map<std::string, Copy> copies_;  ///< what the mirror has, by path
  std::string current_;                 ///< the checkpoint that is being copied, by its name
  uint64_t sent_ = 0, confirmed_ = 0;   ///< bytes of files, over this connection
  bool asked_ = false, passed_ = false, is_last_ = false;
  bool checkpoints_first_ = false;  ///< the last look did not reach them
  double next_beat_ = 0;
};

MirrorSource::MirrorSource(const RunFolder& folder) : shared_(std::make_shared<Shared>()) {
  thread_ = std::thread([folder, shared = shared_] {
    for (double not_before = 0;;) {
      std::unique_ptr<Wire> wire;
      {
        std::unique_lock lock(shared->mutex);
        shared->connected = false;
        shared->came.wait(lock, [&] { return shared->over || shared->wire; });
        const double pause = std::max(0.0, not_before - monotonic_seconds());
        shared->came.wait_for(lock, std::chrono::duration<double>(pause), [&] { return shared->over; });
        if (shared->over) break;
        wire = std::exchange(shared->wire, nullptr);
        shared->connected = true;
      }
      std::string why;
      bool is_refusal = false;
      try {
        Work(folder, *shared, *wire).run();
      } catch (const Broken& broken) {
        why = broken.what();
        is_refusal = broken.is_refusal();
      } catch (const std::exception& error) {  // a message that no mirror of ours sends
        why = error.what();
        is_refusal = true;
      }
      not_before = is_refusal ? monotonic_seconds() + kAfterFailure : 0;
      const std::scoped_lock lock(shared->mutex);
      if (is_refusal) shared->status.why = why;  // of a lost connection the journal says enough
    }
    const std::scoped_lock lock(shared->mutex);
    shared->ended = true;
    shared->came.notify_all();
  });
}

MirrorSource::~MirrorSource() {
  std::unique_lock lock(shared_->mutex);
  shared_->over = true;
  shared_->came.notify_all();
  const bool ended =
      shared_->came.wait_for(lock, std::chrono::duration<double>(kEndSeconds), [this] { return shared_->ended; });
  lock.unlock();
  ended ? thread_.join() : thread_.detach();
}

void MirrorSource::take(std::unique_ptr<Wire> wire) {
  const std::scoped_lock lock(shared_->mutex);
  shared_->wire = std::move(wire);
  shared_->came.notify_all();
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
