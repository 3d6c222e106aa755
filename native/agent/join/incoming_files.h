// Files that the head sends, written below a folder of this node (docs/contracts/cluster.md, The
// mirror).
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/connection/wire.h"
#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

class IncomingFiles {
 public:
  using Accepts = std::function<bool(const std::string& path)>;
  using PartOf = std::function<std::string(const std::string& path)>;
  /// `dir`: what the paths of files are relative to. `accepts`: whether a file of that path may
  /// come. `part_of`: where a file is written until it is whole, on the disk of its place.
  IncomingFiles(std::string dir, Accepts accepts, PartOf part_of)
      : dir_(std::move(dir)), accepts_(std::move(accepts)), part_of_(std::move(part_of)) {}
  ~IncomingFiles() { give_up(); }
  IncomingFiles(const IncomingFiles&) = delete;
  IncomingFiles& operator=(const IncomingFiles&) = delete;

  /// A new connection.
  void begin();
  /// False for a message that is not about one file. Throws FieldError for one that no head of ours
  /// sends, and Error where the disk does not take it.
  bool obey(const std::string& kind, const Fields& fields, Wire& wire);
  /// Leaves nothing of a file that has not come whole.
  void give_up();

 private:
  /// What is written now: the next bytes of a file that grows, or a whole file beside its place.
  struct File {
    std::string path, part;
    uint64_t from = 0, size = 0, written = 0;
    int64_t time = 0;
    bool runs = false;
    Descriptor fd;
    bool is_part() const { return from == 0; }
  };

  std::string place(const std::string& path) const;
  void put(const Fields& fields);
  void data(const std::string& bytes);
  void end();
  void keep_free(uint64_t bytes) const;
  void remove(const std::string& path) const;
  void make_link(const std::string& path, const std::string& target) const;

  std::string dir_;
  Accepts accepts_;
  PartOf part_of_;
  std::optional<File> file_;
  uint64_t received_ = 0;  ///< bytes of files, over this connection
};

}  // namespace trainyard
