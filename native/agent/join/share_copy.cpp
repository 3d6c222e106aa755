#include "agent/join/share_copy.h"

#include <cstdio>
#include <optional>
#include <utility>

#include "agent/messages/hmac.h"
#include "agent/run/folder/shared_files.h"
#include "agent/system/clock.h"
#include "common/error.h"

namespace trainyard {

namespace {

constexpr double kWriteSeconds = 1;  // between two writes of the record
constexpr size_t kNameBytes = 4;

class ShareCopy : public FileCopy {
 public:
  ShareCopy(const RunFolder& folder, const JoinSpec& spec, const std::string& share)
      : ShareCopy(folder, spec, share, random_hex(kNameBytes)) {}

 private:
  /// `own`: for the name of what has not come whole. A copy before this one may still be writing.
  ShareCopy(const RunFolder& folder, const JoinSpec& spec, const std::string& share, const std::string& own)
      : FileCopy(
            spec, share_greeting(spec.host), folder.dir(),
            [share](const std::string& path) { return is_shared(share, path); },
            [folder, share, name = spec.host + "-" + own](const std::string& path) {
              return shared_part(folder, share, path, name);
            }),
        folder_(folder),
        share_(share),
        host_(spec.host) {}

  std::vector<MirroredFile> files_here() override {
    remove_shared_parts(folder_, share_, host_);
    keep_former_share(folder_, share_);
    record_.emplace(folder_);
    std::vector<MirroredFile> files = record_->unchanged();
    std::erase_if(files, [this](const MirroredFile& file) { return !is_shared(share_, file.path); });
    return files;
  }

  void check(const std::string& kind, const Fields& fields) override {
    const bool names_a_file = kind == "put" || kind == "link" || kind == "remove";
    if (names_a_file) refuse_linked_folders(folder_, share_, fields.string("path"));
  }

  void obeyed(const std::string& kind, const Fields& fields) override {
    if (kind == "put") {
      coming_ = {fields.string("path"), fields.integer("time", -INT64_MAX, INT64_MAX)};
    } else if (kind == "end") {
      record_->add(coming_.first, coming_.second);
    } else if (kind == "link") {
      record_->add_link(fields.string("path"), fields.string("target"));
    } else if (kind == "remove") {
      record_->remove(fields.string("path"));
    }
    if (kind == "data" || monotonic_seconds() < next_write_) return;
    next_write_ = monotonic_seconds() + kWriteSeconds;
    record_->write();
  }

  void passed(const Fields& /*fields*/) override { record_->write(); }

  void ended() override {
    try {
      if (record_) record_->write();
    } catch (const Error& error) {  // the next copy sends again what is not in it
      std::fprintf(stderr, "agent: warning: %s\n", error.what());
    }
  }

  RunFolder folder_;
  std::string share_, host_;
  std::optional<SharedRecord> record_;
  std::pair<std::string, int64_t> coming_;  ///< path and time of the file that is written now
  double next_write_ = 0;                   ///< monotonic seconds
};

}  // namespace

std::unique_ptr<FileCopyThread> start_share_copy(const RunFolder& folder, const JoinSpec& spec,
                                                 const std::string& share) {
  if (const std::string why = why_not_shared(share); !why.empty()) throw FieldError("the shared folder " + why);
  return std::make_unique<FileCopyThread>(std::make_unique<ShareCopy>(folder, spec, share),
                                          "the copy of the shared folder");
}

}  // namespace trainyard
