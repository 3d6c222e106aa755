// file.follow: bytes of files as they grow, found through inotify, with a look now and then for
// file systems that do not tell.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

inline constexpr size_t kChunk = 256 << 10;               ///< bytes of a file in one message
inline constexpr uint64_t kInodeBits = (1ULL << 53) - 1;  ///< of an inode's number: what JavaScript holds exactly

class Followers {
 public:
  /// `send(method, params)` is called for each notification.
  using Send = std::function<void(const char* method, const Json& params)>;
  explicit Followers(Send send);
  ~Followers();
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;

  /// Follows `path` from `offset` under `id` (a string or number of the client's choice). A file
  /// that is not there yet is followed from when it appears. With `inode` other than 0, a file that
  /// is another one by now is reset first. Throws FieldError when the id is in use, RpcError when
  /// there are too many.
  void add(const Json& id, const std::string& path, uint64_t offset, uint64_t inode);
  bool remove(const Json& id);

  int inotify_fd() const { return inotify_.get(); }
  /// Takes what inotify says.
  void read_events();
  /// Sends at most one chunk for each file that has changed; true when some file has more at once.
  bool pump();
  /// How long the loop may sleep, in ms; -1: until inotify wakes it.
  int patience_ms() const;

 private:
  struct Followed;
  void look(Followed& file);
  void send_chunk(Followed& file);
  void reset(Followed& file, uint64_t size);
  void watch(Followed& file);
  void unwatch(int descriptor);

  Send send_;
  Descriptor inotify_;
  std::map<std::string, std::unique_ptr<Followed>> files_;  ///< by the id's text
  std::map<int, int> watches_;                              ///< watch descriptor of a folder: followed files in it
};

}  // namespace trainyard
