#include "trainer/data/files_below.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "common/error.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

class Walk {
 public:
  Walk(const std::string& what, bool (*wanted)(std::string_view)) : what_(what), wanted_(wanted) {}

  void collect(const fs::path& folder, std::vector<std::string>& paths) const {
    std::vector<std::string> folders;
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
         entries.increment(error)) {
      const std::string name = entries->path().filename().string();
      if (name.starts_with('.')) continue;
      std::error_code unreadable;
      const bool is_folder = entries->is_directory(unreadable) && !entries->is_symlink(unreadable);
      if (is_folder) folders.push_back(name);
      if (!is_folder && wanted_(name)) files.push_back(name);
    }
    if (error) {
      const std::string place = what_ + " " + folder.string();
      errno = error.value();  // by which file_error says what to do
      throw file_error("list", place);
    }
    std::sort(files.begin(), files.end());
    std::sort(folders.begin(), folders.end());
    for (const std::string& file : files) paths.push_back((folder / file).string());
    for (const std::string& inside : folders) collect(folder / inside, paths);
  }

 private:
  const std::string& what_;
  bool (*wanted_)(std::string_view);
};

}  // namespace

std::vector<std::string> files_below(const std::string& folder, const std::string& what,
                                     bool (*wanted)(std::string_view name)) {
  std::vector<std::string> paths;
  Walk(what, wanted).collect(folder, paths);
  return paths;
}

}  // namespace trainyard
