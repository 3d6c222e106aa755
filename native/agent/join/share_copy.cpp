#include "agent/join/share_copy.h"

#include "agent/run/folder/shared_files.h"

namespace trainyard {

namespace {

JoinSpec with_greeting(JoinSpec spec) {
  spec.host = share_greeting(spec.host);
  return spec;
}

class ShareCopy : public FileCopy {
 public:
  ShareCopy(const RunFolder& folder, const JoinSpec& spec, const std::string& share)
      : FileCopy(
            with_greeting(spec), folder.dir(), [share](const std::string& path) { return is_shared(share, path); },
            [folder, share, host = spec.host](const std::string& path) {
              return shared_part(folder, share, path, host);
            }),
        folder_(folder),
        share_(share),
        host_(spec.host),
        record_(folder) {}

 private:
  std::vector<MirroredFile> files_here() override {
    remove_shared_parts(folder_, share_, host_);
    return record_.unchanged();
  }

  void heard(const std::string& kind, const Fields& fields) override {
    if (kind == "put") {
      record_.add(fields.string("path"), static_cast<uint64_t>(fields.integer("size", 0, INT64_MAX)),
                  fields.integer("time", 0, INT64_MAX));
    } else if (kind == "link") {
      record_.add(fields.string("path"), 0, 0);
    } else if (kind == "remove") {
      record_.remove(fields.string("path"));
    }
  }

  void passed(const Fields& /*fields*/) override { record_.write(); }

  RunFolder folder_;
  std::string share_, host_;
  SharedRecord record_;
};

}  // namespace

std::unique_ptr<FileCopyThread> start_share_copy(const RunFolder& folder, const JoinSpec& spec,
                                                 const std::string& share) {
  if (const std::string why = why_not_shared(share); !why.empty()) throw FieldError("the shared folder " + why);
  return std::make_unique<FileCopyThread>(std::make_unique<ShareCopy>(folder, spec, share),
                                          "the copy of the shared folder");
}

}  // namespace trainyard
