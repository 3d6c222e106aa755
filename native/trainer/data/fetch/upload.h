// Files that are put into a bucket of S3.
#pragma once
#include <functional>
#include <string>

namespace trainyard {

struct UploadOptions {
  std::string s3_endpoint;
  double retry_seconds = 300;  ///< without success, until it gives up
  std::function<void(const std::string& text)> note;
};

/// s3://.
bool is_bucket(const std::string& place);

/// Has share/fetch/upload.py beside the trainer put the file at `address`, s3://BUCKET/KEY. The
/// object is there whole or not at all. Throws Error(Exit::usage): what is no address, more than
/// 5 GB. Throws Error(Exit::data): it cannot be put there (why, and what to do); Error(Exit::device):
/// there is no Python 3.
void upload(const std::string& path, const std::string& address, const UploadOptions& options);

/// Whether there is such an object. Throws as upload.
bool is_uploaded(const std::string& address, const UploadOptions& options);

}  // namespace trainyard
