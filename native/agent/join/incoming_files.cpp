#include "agent/join/incoming_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "agent/run/folder/mirrored_files.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kSecond = 1'000'000'000;  // in nanoseconds
constexpr uint64_t kKeptFree = 256U << 20;  // bytes of the disk, for the ranks' logs

/// Below a folder that only its owner can enter. A program may have made some of them.
void make_parents(const std::string& path) {
  std::error_code failed;
  fs::create_directories(fs::path(path).parent_path(), failed);
  if (failed) throw Error(Exit::data, "cannot make the folder of " + path + ": " + failed.message());
}

}  // namespace

void IncomingFiles::begin() {
  give_up();
  received_ = 0;
}

bool IncomingFiles::obey(const std::string& kind, const Fields& fields, Wire& wire) {
  if (kind == "put") {
    put(fields);
  } else if (kind == "data") {
    data(wire.bytes());
    wire.send({{"kind", "got"}, {"bytes", received_}});
  } else if (kind == "end") {
    end();
  } else if (kind == "drop") {
    give_up();
  } else if (kind == "remove") {
    remove(fields.string("path"));
  } else if (kind == "link") {
    make_link(fields.string("path"), fields.string("target"));
  } else {
    return false;
  }
  return true;
}

void IncomingFiles::give_up() {
  if (file_ && file_->is_part()) ::unlink(file_->part.c_str());
  if (file_ && !file_->is_part() && ::ftruncate(file_->fd.get(), static_cast<off_t>(file_->from)) != 0) {
    std::fprintf(stderr, "agent: warning: the copy of %s stays too long\n", file_->path.c_str());
  }
  file_.reset();
}

std::string IncomingFiles::place(const std::string& path) const {
  if (!accepts_(path)) throw FieldError("the head sent a file of a name that none has");
  return dir_ + "/" + path;
}

void IncomingFiles::put(const Fields& fields) {
  give_up();
  File file{fields.string("path"),
            "",
            static_cast<uint64_t>(fields.integer("from", 0, INT64_MAX)),
            static_cast<uint64_t>(fields.integer("size", 0, INT64_MAX)),
            0,
            fields.integer("time", -INT64_MAX, INT64_MAX),
            fields.boolean_or("runs", false),
            Descriptor()};
  const std::string target = place(file.path);
  make_parents(target);
  file.part = part_of_(file.path);
  keep_free(file.size - std::min(file.from, file.size));
  const std::string path = file.is_part() ? file.part : target;
  const int how = file.is_part() ? O_CREAT | O_TRUNC : O_APPEND;
  file.fd = Descriptor(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | how, 0600));
  if (!file.fd) throw file_error("open", path);
  struct stat info{};
  if (::fstat(file.fd.get(), &info) != 0) throw file_error("look at", path);
  if (static_cast<uint64_t>(info.st_size) != file.from) {
    throw Error(Exit::data, path + " has another size than was written there. Delete it");
  }
  file_ = std::move(file);
}

void IncomingFiles::keep_free(uint64_t bytes) const {
  struct statvfs info{};
  if (::statvfs(dir_.c_str(), &info) != 0) return;
  const uint64_t free = static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
  if (free >= bytes + kKeptFree) return;
  throw Error(Exit::data, "its disk has " + std::to_string(free >> 20) + " MiB free, and the copy needs " +
                              std::to_string((bytes + kKeptFree) >> 20) + " MiB. Make space there");
}

void IncomingFiles::data(const std::string& bytes) {
  if (!file_) throw FieldError("bytes came of no file");
  received_ += bytes.size();
  write_all(file_->fd.get(), bytes, place(file_->path));
  file_->written += bytes.size();
}

void IncomingFiles::end() {
  struct stat info{};
  const bool is_whole = file_ && file_->from + file_->written == file_->size && ::fstat(file_->fd.get(), &info) == 0 &&
                        static_cast<uint64_t>(info.st_size) == file_->size;
  if (!is_whole) throw FieldError("a file is not whole");
  const std::string target = place(file_->path);
  // A time before 1970 is negative.
  const int64_t rest = (file_->time % kSecond + kSecond) % kSecond;
  const timespec time{(file_->time - rest) / kSecond, rest};
  const std::array<timespec, 2> times{time, time};
  if (::fchmod(file_->fd.get(), file_->runs ? 0700 : 0600) != 0) throw file_error("set the mode of", target);
  if (::futimens(file_->fd.get(), times.data()) != 0) throw file_error("set the time of", target);
  if (file_->is_part()) {
    if (::fsync(file_->fd.get()) != 0) throw file_error("write", target);
    if (::rename(file_->part.c_str(), target.c_str()) != 0) throw file_error("write", target);
    sync_folder(fs::path(target).parent_path().string());
  }
  file_.reset();
}

void IncomingFiles::remove(const std::string& path) const {
  const std::string target = place(path);
  if (::unlink(target.c_str()) != 0 && errno != ENOENT) throw file_error("remove", target);
  remove_empty_parents(dir_, path);
}

/// Of a link that leads to another file that may come, and nowhere else.
void IncomingFiles::make_link(const std::string& path, const std::string& target) const {
  const std::string link = place(path);
  MirroredFile one{path};
  one.link = target;
  if (!leads_to(one, accepts_)) throw FieldError("the head sent a link to elsewhere");
  make_parents(link);
  const std::string part = part_of_(path);
  if (::unlink(part.c_str()) != 0 && errno != ENOENT) throw file_error("remove", part);
  if (::symlink(target.c_str(), part.c_str()) != 0) throw file_error("write", link);
  if (::rename(part.c_str(), link.c_str()) != 0) throw file_error("write", link);
}

}  // namespace trainyard
