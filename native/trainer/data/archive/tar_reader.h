// The entries of a tar, one after the other.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "trainer/data/archive/archive_bytes.h"

namespace trainyard {

struct TarEntry {
  enum class Kind { file, link, other };  ///< other: folders, devices and the like
  Kind kind = Kind::other;
  std::string path;     ///< as the archive has it
  uint64_t offset = 0;  ///< of the data, in the archive's bytes
  uint64_t size = 0;
};

/// Reads ustar (POSIX.1-1988) with GNU's long names and base-256 sizes, and pax (POSIX.1-2001: path
/// and size).
class TarReader {
 public:
  /// The tar in [begin, end) of `bytes`, which must outlive this; `name` is for messages.
  TarReader(const ArchiveBytes& bytes, std::string name, uint64_t begin, uint64_t end);
  /// Nothing at the end. Throws Error(Exit::data): cut short (an archive without its end mark is),
  /// a header's checksum is wrong, a size beyond the archive, a name or a header of headers longer
  /// than 1 MiB, a sparse file.
  std::optional<TarEntry> next();

 private:
  struct Header;
  bool read_header(Header& header);
  std::string read_text(const TarEntry& entry) const;
  [[noreturn]] void refuse(const std::string& what) const;

  const ArchiveBytes& bytes_;
  std::string name_;
  uint64_t at_;
  uint64_t end_;
};

}  // namespace trainyard
