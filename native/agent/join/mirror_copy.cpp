#include "agent/join/mirror_copy.h"

#include "common/files.h"

namespace trainyard {

namespace {

class MirrorCopy : public FileCopy {
 public:
  MirrorCopy(const RunFolder& folder, const JoinSpec& spec)
      : FileCopy(
            spec, mirror_greeting(spec.host), mirror_folder(folder),
            [](const std::string& path) { return is_mirrored(path); },
            [folder](const std::string&) { return mirror_part(folder); }),
        folder_(folder) {}

 private:
  std::vector<MirroredFile> files_here() override { return list_mirrored(dir()); }

  void passed(const Fields& fields) override {
    const Json note{{"head", spec().address}, {"time", fields.number_or("time", 0, 0, 1e12)}};
    if (fields.boolean_or("whole", false)) replace_file(mirror_note(folder_), to_line(note) + "\n");
  }

  RunFolder folder_;
};

}  // namespace

std::unique_ptr<FileCopyThread> start_mirror_copy(const RunFolder& folder, const JoinSpec& spec) {
  return std::make_unique<FileCopyThread>(std::make_unique<MirrorCopy>(folder, spec), "the mirror");
}

}  // namespace trainyard
