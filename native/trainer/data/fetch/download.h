// Sources that lie elsewhere, brought to this machine.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace trainyard {

/// A source as it was named: SOURCE or SOURCE#sha256=HEX.
struct NamedSource {
  std::string place;   ///< a path or an address
  std::string sha256;  ///< 64 lower-case hex digits, or empty
};

NamedSource read_source(const std::string& text);

/// http://, https:// or s3://.
bool is_address(const std::string& place);

/// The last part of an address, as a name for a file.
std::string download_name(const std::string& address);

struct DownloadOptions {
  std::string folder;  ///< where it is put, made if it is not there
  std::string s3_endpoint;
  double retry_seconds = 300;  ///< without a new byte, until it gives up
  std::function<void(const std::string& what, int64_t done, int64_t total)> progress;  ///< total: -1 if not known
  std::function<void(const std::string& text)> note;
};

/// Has share/fetch/download.py beside the trainer fetch `source`, going on where an earlier try
/// broke off, and returns the path. A file that is there already is only asked after. Throws
/// Error(Exit::usage): what is no address, a password in it. Throws Error(Exit::data): it cannot be
/// had (why, and what to do), its sum is another; Error(Exit::device): there is no Python 3.
std::string download(const NamedSource& source, const DownloadOptions& options);

/// Throws Error(Exit::data) where the file at `path` has another SHA-256.
void check_sum(const std::string& path, const std::string& sha256);

}  // namespace trainyard
