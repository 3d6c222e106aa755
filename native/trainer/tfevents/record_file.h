// A file of TFRecord records (common/record_frame.h) that grows while others read it.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

#include "common/files.h"

namespace trainyard {

/// A file of records that a reader may follow as it grows. What a full disk cut off is taken back,
/// so that the records that follow later stand where a reader looks for them.
class RecordFile {
 public:
  /// Takes over a descriptor of an empty file, open for writing.
  RecordFile(Descriptor fd, std::string path) : path_(std::move(path)), fd_(std::move(fd)) {}
  /// Keeps the record until flush(), which it calls itself once a good deal has come together.
  /// While the disk takes nothing, up to 16 MiB are kept; records after that are lost, each with a
  /// file_error.
  void append(std::string_view data);
  /// Writes what is kept. Throws file_error; the records stay kept, and the next flush tries again.
  void flush();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Descriptor fd_;
  std::string kept_;
  off_t whole_ = 0;  ///< bytes in the file that are whole records
};

}  // namespace trainyard
