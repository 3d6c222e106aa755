#include "agent/join/mirror_copy.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "agent/join/join_head.h"
#include "agent/messages/base64.h"
#include "agent/run/folder/mirrored_files.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr size_t kFilesInMessage = 100;
constexpr uint64_t kKeptFree = 256U << 20;  // bytes of the disk, for the ranks' logs
constexpr double kSilentSeconds = 60;       // of a head whose disk is slow
constexpr double kEndSeconds = 2;

/// What is written now: the next bytes of a file that grows, or a whole file beside its place.
struct Incoming {
  std::string path;
  uint64_t from = 0, size = 0, written = 0;
  int64_t time = 0;
  bool runs = false;
  Descriptor fd;
  bool is_part() const { return from == 0; }
};

class Copying {
 public:
  Copying(const RunFolder& folder, const JoinSpec& spec) : folder_(folder), dir_(mirror_folder(folder)), spec_(spec) {}

  void run(const std::atomic<bool>& last, const std::atomic<bool>& over) {
    JoinSpec spec = spec_;
    spec.host = mirror_greeting(spec_.host);
    HeadConnection head(spec, kSilentSeconds);
    while (!over && !(last && (is_finished_ || head.wire() == nullptr))) {
      head.wait();
      if (head.step()) begin(*head.wire());
      while (const auto message = head.next()) {
        try {
          obey(*message, *head.wire());
        } catch (const std::exception& error) {
          fail(error.what(), *head.wire());
        }
        if (head.wire() == nullptr) break;
      }
    }
    give_up();
  }

 private:
  void begin(Wire& wire) {
    give_up();
    is_failed_ = is_finished_ = false;
    received_ = 0;
    try {
      make_private_folders(dir_);
      std::vector<MirroredFile> files = list_mirrored(dir_);
      for (size_t at = 0; at < files.size(); at += kFilesInMessage) {
        Json some = Json::array();
        for (size_t index = at; index < std::min(files.size(), at + kFilesInMessage); ++index) {
          some.push_back({files[index].path, files[index].size, files[index].time});
        }
        wire.send({{"kind", "have"}, {"files", some}});
      }
    } catch (const std::exception& error) {
      return fail(error.what(), wire);
    }
    wire.send({{"kind", "ask"}});
  }

  /// The head leaves this connection, and tries another one in a minute.
  void fail(const std::string& why, Wire& wire) {
    give_up();
    if (!is_failed_) wire.send({{"kind", "failed"}, {"why", why}});
    is_failed_ = true;
  }

  void give_up() {
    if (incoming_ && incoming_->is_part()) ::unlink(mirror_part(folder_).c_str());
    if (incoming_ && !incoming_->is_part() &&
        ::ftruncate(incoming_->fd.get(), static_cast<off_t>(incoming_->from)) != 0) {
      std::fprintf(stderr, "agent: warning: the copy of %s stays too long\n", incoming_->path.c_str());
    }
    incoming_.reset();
  }

  void obey(const Json& message, Wire& wire) {
    if (message.value("kind", "") == "bye") is_finished_ = true;
    if (is_failed_) return;
    const Fields fields(message, "message");
    const std::string kind = fields.string("kind");
    if (kind == "put") {
      put(fields);
    } else if (kind == "data") {
      data(fields);
      wire.send({{"kind", "got"}, {"bytes", received_}});
    } else if (kind == "end") {
      end();
    } else if (kind == "drop") {
      give_up();
    } else if (kind == "remove") {
      remove(fields.string("path"));
    } else if (kind == "pass") {
      const Json note{{"head", spec_.address}, {"time", fields.number_or("time", 0, 0, 1e12)}};
      if (fields.boolean_or("whole", false)) replace_file(mirror_note(folder_), to_line(note) + "\n");
      wire.send({{"kind", "passed"}});
    }
  }

  std::string place(const std::string& path) const {
    if (!is_mirrored(path)) throw FieldError("the head sent a file of a name that none has");
    return dir_ + "/" + path;
  }

  void put(const Fields& fields) {
    give_up();
    Incoming file{fields.string("path"),
                  static_cast<uint64_t>(fields.integer("from", 0, INT64_MAX)),
                  static_cast<uint64_t>(fields.integer("size", 0, INT64_MAX)),
                  0,
                  fields.integer("time", 0, INT64_MAX),
                  fields.boolean_or("runs", false),
                  Descriptor()};
    const std::string target = place(file.path);
    keep_free(file.size - std::min(file.from, file.size));
    make_private_folders(fs::path(target).parent_path().string());
    const std::string path = file.is_part() ? mirror_part(folder_) : target;
    const int how = file.is_part() ? O_CREAT | O_TRUNC : O_APPEND;
    file.fd = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | how, 0600));
    if (!file.fd) throw file_error("open", path);
    struct stat info{};
    if (::fstat(file.fd.get(), &info) != 0) throw file_error("look at", path);
    if (static_cast<uint64_t>(info.st_size) != file.from) {
      throw Error(Exit::data, path + " has another size than the mirror wrote. Delete it");
    }
    incoming_ = std::move(file);
  }

  void keep_free(uint64_t bytes) const {
    struct statvfs info{};
    if (::statvfs(dir_.c_str(), &info) != 0) return;
    const uint64_t free = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
    if (free >= bytes + kKeptFree) return;
    throw Error(Exit::data, "its disk has " + std::to_string(free >> 20) + " MiB free, and the copy needs " +
                                std::to_string((bytes + kKeptFree) >> 20) + " MiB. Make space there");
  }

  void data(const Fields& fields) {
    const auto bytes = decode_base64(fields.string("data"));
    if (!incoming_ || !bytes) throw FieldError("bytes came of no file");
    received_ += bytes->size();
    write_all(incoming_->fd.get(), *bytes, place(incoming_->path));
    incoming_->written += bytes->size();
  }

  void end() {
    if (!incoming_ || incoming_->from + incoming_->written != incoming_->size) throw FieldError("a file is not whole");
    const std::string target = place(incoming_->path);
    const timespec time{incoming_->time / 1'000'000'000, incoming_->time % 1'000'000'000};
    const std::array<timespec, 2> times{time, time};
    if (::fchmod(incoming_->fd.get(), incoming_->runs ? 0700 : 0600) != 0) throw file_error("set the mode of", target);
    if (::futimens(incoming_->fd.get(), times.data()) != 0) throw file_error("set the time of", target);
    if (incoming_->is_part()) {
      if (::fsync(incoming_->fd.get()) != 0) throw file_error("write", target);
      if (::rename(mirror_part(folder_).c_str(), target.c_str()) != 0) throw file_error("write", target);
      sync_folder(fs::path(target).parent_path().string());
    }
    incoming_.reset();
  }

  void remove(const std::string& path) const {
    const std::string target = place(path);
    if (::unlink(target.c_str()) != 0 && errno != ENOENT) throw file_error("remove", target);
    remove_empty_parents(dir_, path);
  }

  RunFolder folder_;
  std::string dir_;
  JoinSpec spec_;
  std::optional<Incoming> incoming_;
  uint64_t received_ = 0;  ///< bytes of files, over this connection
  bool is_failed_ = false;
  bool is_finished_ = false;  ///< the head has nothing more
};

}  // namespace

MirrorCopy::MirrorCopy(const RunFolder& folder, JoinSpec spec) : flags_(std::make_shared<Flags>()) {
  thread_ = std::thread([folder, spec = std::move(spec), flags = flags_] {
    try {
      Copying(folder, spec).run(flags->last, flags->over);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "agent: error: the mirror of the run folder ended: %s\n", error.what());
    }
    flags->ended = true;
  });
}

MirrorCopy::~MirrorCopy() {
  flags_->over = true;
  const double deadline = monotonic_seconds() + kEndSeconds;
  while (!flags_->ended && monotonic_seconds() < deadline) sleep_ms(10);
  flags_->ended ? thread_.join() : thread_.detach();
}

}  // namespace trainyard
