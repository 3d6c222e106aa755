#include "trainer/data/records/unpack.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <system_error>
#include <vector>

#include "common/error.h"
#include "common/record_frame.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

namespace {

constexpr size_t kPiece = size_t{256} << 10;
constexpr int kGzipOnly = 16 + MAX_WBITS;  // zlib.h: "add 16 to decode only the gzip format"

/// Each unpacked shard stays open, and a process may have few files at first.
void allow_more_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Descriptor open_nameless(const std::string& folder) {
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file) return file;
  std::string pattern = folder + "/trainyard-shard-XXXXXX";  // a file system without O_TMPFILE
  Descriptor named(::mkostemp(pattern.data(), O_CLOEXEC));
  if (named) ::unlink(pattern.c_str());
  return named;
}

class Inflater {
 public:
  explicit Inflater(const std::string& path) : path_(path) {
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Writes what `packed` gives to `out`. Members may begin and end anywhere in it.
  void take(std::string_view packed, int out, const std::string& target) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(packed.size());
    do {
      if (!within_ && stream_.avail_in > 0) {
        inflateReset(&stream_);
        within_ = true;
      }
      stream_.next_out = unpacked_.data();
      stream_.avail_out = static_cast<uInt>(unpacked_.size());
      const int result = within_ ? inflate(&stream_, Z_NO_FLUSH) : Z_OK;
      if (result == Z_STREAM_END) within_ = false;
      if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) damaged();
      const size_t count = unpacked_.size() - stream_.avail_out;
      write_all(out, {reinterpret_cast<const char*>(unpacked_.data()), count}, target);
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
  }

  void finish() const {
    if (within_) damaged();
  }

 private:
  [[noreturn]] void damaged() const {
    throw Error(Exit::data, path_ + " is compressed by gzip and " +
                                (stream_.msg != nullptr ? std::string("damaged: ") + stream_.msg : "cut short") +
                                ". Copy it again, or take it out of the folder");
  }

  const std::string& path_;
  z_stream stream_{};
  std::vector<Bytef> unpacked_ = std::vector<Bytef>(kPiece);
  bool within_ = true;  ///< a member
};

}  // namespace

bool is_gzip(std::string_view head) {
  // A record's length may begin with the same bytes; its checksum tells.
  return head.starts_with("\x1f\x8b\x08") && !record_length(head);
}

Descriptor unpack(const Descriptor& packed, const std::string& path) {
  std::error_code error;
  const std::string folder = std::filesystem::temp_directory_path(error).string();
  if (error) {
    throw Error(Exit::data,
                "cannot unpack " + path + ", as TMPDIR is no folder. Set it to one with room for the shards");
  }
  allow_more_files();
  Descriptor file = open_nameless(folder);
  if (!file) throw file_error("unpack " + path + " into TMPDIR,", folder);
  const std::string target = folder + " (TMPDIR), into which " + path + " is unpacked";
  Inflater inflater(path);
  std::string piece(kPiece, '\0');
  uint64_t at = 0;
  while (const size_t count = read_at(packed.get(), at, piece.data(), piece.size(), path)) {
    inflater.take(std::string_view(piece).substr(0, count), file.get(), target);
    at += count;
  }
  inflater.finish();
  return file;
}

}  // namespace trainyard
