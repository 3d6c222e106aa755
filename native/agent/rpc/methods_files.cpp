// RPC: file.read, file.follow, file.unfollow, checkpoint.list.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "agent/messages/base64.h"
#include "agent/messages/rpc_error.h"
#include "agent/rpc/rpc.h"
#include "agent/run/folder/checkpoints.h"
#include "agent/system/paths.h"
#include "common/error.h"

namespace trainyard {

namespace {

Answer file_read(const Fields& params, ServeContext&) {
  const std::string path = expand_path(params.string("path"));
  const int64_t offset = params.integer_or("offset", 0, 0, INT64_MAX);
  const int64_t length = params.integer_or("length", static_cast<int64_t>(kChunk), 0, INT64_MAX);
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a FIFO must not hold us
  if (!fd && errno == ENOENT) throw RpcError(RpcCode::not_found, path + " does not exist");
  if (!fd) throw file_error("open", path);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) throw file_error("look at", path);
  if (!S_ISREG(info.st_mode)) throw RpcError(RpcCode::refused, path + " is not a plain file. Name one");
  std::string bytes(std::min(static_cast<size_t>(length), kChunk), '\0');
  const ssize_t got = ::pread(fd.get(), bytes.data(), bytes.size(), offset);
  if (got < 0) throw file_error("read", path);
  bytes.resize(static_cast<size_t>(got));
  return Json{{"data", base64(bytes)}, {"offset", offset}, {"size", info.st_size}, {"inode", info.st_ino & kInodeBits}};
}

const Json& id_of(const Fields& params) {
  const Json* id = params.find("id");
  if (id == nullptr) throw FieldError("params.id is missing");
  return *id;
}

Answer file_follow(const Fields& params, ServeContext& context) {
  const std::string path = expand_path(params.string("path"));
  const int64_t offset = params.integer_or("offset", 0, 0, INT64_MAX);
  const int64_t inode = params.integer_or("inode", 0, 0, INT64_MAX);
  context.followers.add(id_of(params), path, static_cast<uint64_t>(offset), static_cast<uint64_t>(inode));
  return Json::object();
}

Answer file_unfollow(const Fields& params, ServeContext& context) {
  const Json& id = id_of(params);
  if (!context.followers.remove(id)) throw RpcError(RpcCode::not_found, "no file is followed under " + id.dump());
  return Json::object();
}

class VerifyJob : public Job {
 public:
  explicit VerifyJob(const RunFolder& folder) : listing_(folder, true) {}
  std::optional<Json> step() override {
    if (listing_.verify_some()) return listing_.to_json();
    return std::nullopt;
  }
  bool computes() const override { return true; }

 private:
  CheckpointListing listing_;
};

Answer checkpoint_list(const Fields& params, ServeContext&) {
  const RunFolder folder(expand_path(params.string("dir")));
  if (!folder_exists(folder.dir())) throw RpcError(RpcCode::not_found, "no run in " + folder.dir());
  if (params.boolean_or("verify", false)) return std::make_unique<VerifyJob>(folder);
  return CheckpointListing(folder, false).to_json();
}

}  // namespace

void add_file_methods(MethodTable& table) {
  table["file.read"] = file_read;
  table["file.follow"] = file_follow;
  table["file.unfollow"] = file_unfollow;
  table["checkpoint.list"] = checkpoint_list;
}

}  // namespace trainyard
