// Files as the contracts want them: replaced atomically, appended a whole line at a time.
#pragma once
#include <string>
#include <string_view>

namespace trainyard {

/// An owned file descriptor, closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();

 private:
  int fd_;
};

/// The whole file. Throws file_error.
std::string read_file(const std::string& path);

/// Writes all of `bytes`, whatever the number of write calls it takes. Throws file_error naming
/// `path`.
void write_all(int fd, std::string_view bytes, const std::string& path);

/// Writes to PATH.tmp-PID, fsyncs, renames over PATH. On failure PATH is untouched and nothing
/// stays beside it.
void replace_file(const std::string& path, std::string_view bytes);

/// Makes a folder's entries durable after a rename in it.
void sync_folder(const std::string& path);

/// An append-only file of JSON lines: each line is one write, so that readers and other appenders
/// see whole lines.
class LineFile {
 public:
  /// Throws file_error when the file cannot be opened or made.
  explicit LineFile(const std::string& path);
  /// Adds the line and a newline. Where the disk takes only a part (it is full), the part is taken
  /// back, unless another appender has written behind it. A torn line that stands at the end is
  /// ended first. Throws file_error.
  void append(std::string line);

 private:
  bool ends_inside_a_line() const;
  void take_back(size_t written);

  std::string path_;
  Descriptor fd_;
};

}  // namespace trainyard
