// The node's side of files that the head sends (docs/contracts/cluster.md, The mirror). A thread of
// its own writes them, over a connection of its own to the head, so that a slow disk holds up
// neither ranks nor signs of life.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/join/incoming_files.h"
#include "agent/join/node_ranks.h"
#include "agent/run/folder/mirrored_files.h"

namespace trainyard {

class FileCopy {
 public:
  /// `greeting`: the name by which the connection greets the head.
  FileCopy(JoinSpec spec, const std::string& greeting, std::string dir, IncomingFiles::Accepts accepts,
           IncomingFiles::PartOf part_of);
  virtual ~FileCopy() = default;
  FileCopy(const FileCopy&) = delete;
  FileCopy& operator=(const FileCopy&) = delete;

  /// Until `over`, or until the head has nothing more to send; with `last` until it is gone too.
  void run(const std::atomic<bool>& last, const std::atomic<bool>& over);

 protected:
  /// What is here already. Throws Error.
  virtual std::vector<MirroredFile> files_here() = 0;
  /// A message about a file is about to be obeyed. Throws Error where it must not be.
  virtual void check(const std::string& /*kind*/, const Fields& /*fields*/) {}
  virtual void obeyed(const std::string& /*kind*/, const Fields& /*fields*/) {}
  /// No more comes over this connection, for whatever reason.
  virtual void ended() {}
  /// All that the head has for now is written.
  virtual void passed(const Fields& fields) = 0;
  const JoinSpec& spec() const { return spec_; }
  const std::string& dir() const { return dir_; }

 private:
  void begin(Wire& wire);
  void fail(const std::string& why, Wire& wire);
  void obey(const Json& message, Wire& wire);

  JoinSpec spec_;
  std::string dir_;
  IncomingFiles incoming_;
  bool is_failed_ = false;
  bool is_finished_ = false;  ///< the head has nothing more
};

class FileCopyThread {
 public:
  /// `what`: for a warning.
  FileCopyThread(std::unique_ptr<FileCopy> copy, const std::string& what);
  /// Waits for the thread for 2 s at most: a write may never end.
  ~FileCopyThread();
  FileCopyThread(const FileCopyThread&) = delete;
  FileCopyThread& operator=(const FileCopyThread&) = delete;

  /// The copy ends once the head has sent the last of it, or is gone.
  void finish() { flags_->last = true; }
  bool has_ended() const { return flags_->ended; }

 private:
  struct Flags {
    std::atomic<bool> last = false, over = false, ended = false;
  };
  std::shared_ptr<Flags> flags_;
  std::thread thread_;
};

}  // namespace trainyard
