// A connection over which the head sends files of the run folder to a node (docs/contracts/
// cluster.md, The mirror). Belongs to one thread, which may wait here for the node.
#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>

#include "agent/connection/wire.h"
#include "agent/run/folder/mirrored_files.h"

namespace trainyard {

/// The node is gone, or is to be left alone for now.
class FileWireBroken : public std::runtime_error {
 public:
  FileWireBroken(const std::string& why, bool is_refusal) : std::runtime_error(why), is_refusal_(is_refusal) {}
  /// The node said so itself, or the head cannot read what is to be sent: a new connection would
  /// come to the same.
  bool is_refusal() const { return is_refusal_; }

 private:
  bool is_refusal_;
};

class FileWire {
 public:
  /// `dir`: the folder that the paths of files are relative to.
  FileWire(std::string dir, Wire& wire) : dir_(std::move(dir)), wire_(wire) {}
  FileWire(const FileWire&) = delete;
  FileWire& operator=(const FileWire&) = delete;

 protected:
  virtual ~FileWire() = default;

  /// A file that the node has, as it says before it asks for files.
  virtual void has_file(const std::string& path, uint64_t size, int64_t time) = 0;
  /// So many bytes of files are written there, over this connection.
  virtual void got(uint64_t /*bytes*/) {}
  /// Called while this thread waits. Throws FileWireBroken where nobody has a use for it any more.
  virtual void look() = 0;
  /// Seconds after which a node that says nothing is lost.
  virtual double longest_silence() const { return 60; }  // its disk may be slow

  /// Waits until the node has named its files.
  void wait_until_asked();
  /// Says that what was sent is all for now, with these fields, and waits until it is written.
  void pass(Json fields);
  void say(const Json& message) { wire_.send(message); }
  /// Sends the link, or the bytes of the file from `from` on. False where the file changed or went
  /// meanwhile: the node then keeps what it had.
  bool send(const MirroredFile& file, uint64_t from);
  /// The node need not wait for more.
  void say_bye();
  /// Throws FileWireBroken once the connection is lost, and what look() throws.
  template <typename Condition>
  void wait_until(const Condition& condition) {
    for (;;) {
      turn();
      if (condition()) return;
      wait_for_bytes();
    }
  }
  const std::string& dir() const { return dir_; }

 private:
  void turn();
  void wait_for_bytes();
  void take(const Json& message);

  std::string dir_;
  Wire& wire_;
  uint64_t sent_ = 0, confirmed_ = 0;  ///< bytes of files, over this connection
  bool asked_ = false, passed_ = false;
  double next_beat_ = 0;  ///< monotonic seconds
};

}  // namespace trainyard
