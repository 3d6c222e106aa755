#include "agent/cluster/share_source.h"

#include <map>
#include <set>
#include <utility>

#include "agent/cluster/file_wire.h"
#include "agent/run/folder/shared_files.h"
#include "agent/system/clock.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr int kMostTries = 3;  // of a folder that changes while it is copied

}  // namespace

/// One connection, from what the node has to its end.
class ShareSource::Work : FileWire {
 public:
  Work(const RunFolder& folder, const std::string& share, Shared& shared, Wire& wire)
      : FileWire(folder.dir(), wire), folder_(folder), share_(share), shared_(shared) {}

  /// Throws FileWireBroken.
  void run() {
    wait_until_asked();
    for (int tries = 1; !bring_all(); ++tries) {
      if (tries == kMostTries) throw FileWireBroken("its files change while they are copied", true);
    }
    pass({});
    say_bye();
  }

 private:
  struct Copy {
    uint64_t size = 0;
    int64_t time = 0;
  };

  /// False where a file changed meanwhile.
  bool bring_all() {
    const std::vector<MirroredFile> files = list();
    remove_gone(files);
    bool all = true;
    for (const MirroredFile& file : files) {
      const auto copy = copies_.find(file.path);
      const bool is_known = copy != copies_.end() && copy->second.size == file.size && copy->second.time == file.time;
      if (is_known && file.link.empty()) continue;
      if (!send(file, 0)) {
        all = false;
        continue;
      }
      copies_[file.path] = {file.size, file.time};
      if (file.link.empty()) count(file.size);
    }
    return all;
  }

  std::vector<MirroredFile> list() const {
    try {
      return list_shared(folder_, share_);
    } catch (const Error& error) {
      throw FileWireBroken(error.what(), true);
    }
  }

  /// What was sent earlier, and the head has no more.
  void remove_gone(const std::vector<MirroredFile>& files) {
    std::set<std::string> there;
    for (const MirroredFile& file : files) there.insert(file.path);
    std::erase_if(copies_, [&](const auto& entry) {
      if (there.contains(entry.first)) return false;
      say({{"kind", "remove"}, {"path", entry.first}});
      return true;
    });
  }

  void count(uint64_t bytes) {
    const std::scoped_lock lock(shared_.mutex);
    ++shared_.status.files;
    shared_.status.moved = monotonic_seconds();
    shared_.status.bytes += static_cast<int64_t>(bytes);
  }

  void has_file(const std::string& path, uint64_t size, int64_t time) override { copies_[path] = {size, time}; }

  void got(uint64_t /*bytes*/) override {
    const std::scoped_lock lock(shared_.mutex);
    shared_.status.moved = monotonic_seconds();
  }

  void look() override {
    const std::scoped_lock lock(shared_.mutex);
    if (shared_.wire) throw FileWireBroken("it connected anew", false);
    if (shared_.over) throw FileWireBroken("nobody waits for it any more", false);
  }

  RunFolder folder_;
  std::string share_;
  Shared& shared_;
  std::map<std::string, Copy> copies_;  ///< what the node has from the head, by path
};

ShareSource::ShareSource(const RunFolder& folder, const std::string& share)
    : shared_(std::make_shared<Shared>()),
      thread_(shared_, [folder, share, shared = shared_] { serve(folder, share, *shared); }) {}

void ShareSource::serve(const RunFolder& folder, const std::string& share, Shared& shared) {
  for (;;) {
    std::unique_ptr<Wire> wire;
    {
      std::unique_lock lock(shared.mutex);
      shared.came.wait(lock, [&] { return shared.over || shared.wire; });
      if (shared.over) return;
      wire = std::exchange(shared.wire, nullptr);
    }
    bool done = false;
    std::string why;
    try {
      Work(folder, share, shared, *wire).run();
      done = true;
    } catch (const FileWireBroken& broken) {  // of a lost connection another one comes
      if (broken.is_refusal()) why = broken.what();
    } catch (const std::exception& error) {  // a message that no node of ours sends
      why = error.what();
    }
    const std::scoped_lock lock(shared.mutex);
    shared.status.done = done;
    shared.status.why = why;
    if (done || !why.empty()) return;
  }
}

ShareSource::Status ShareSource::status() const {
  const std::scoped_lock lock(shared_->mutex);
  return shared_->status;
}

}  // namespace trainyard
