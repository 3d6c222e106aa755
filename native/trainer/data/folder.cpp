#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <string_view>
#include <system_error>

#include "common/error.h"
#include "trainer/data/images/image_file.h"
#include "trainer/data/images/image_names.h"
#include "trainer/data/kinds.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr size_t kNamesBetweenSigns = 256;

bool is_hidden(const std::string& name) { return name.starts_with('.'); }

struct Listing {
  std::vector<std::string> folders;
  std::vector<std::string> files;  ///< everything that is not a folder, links that lead nowhere among them
};

[[noreturn]] void fail_to(const std::string& action, const std::string& folder, const std::error_code& error) {
  const std::string what = "the data folder " + folder;
  errno = error.value();  // by which file_error says what to do
  throw file_error(action, what);
}

/// The names in a folder without the hidden ones, each list in byte order.
Listing list(const fs::path& folder, const std::function<void()>& listed) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  Listing listing;
  size_t names = 0;
  while (!error && entries != fs::directory_iterator()) {
    std::string name = entries->path().filename().string();
    std::error_code unreadable;
    if (!is_hidden(name)) {
      const bool is_folder = entries->is_directory(unreadable);
      // A class must not go missing with the disk's server.
      if (retry_after(unreadable.value()) == Retry::worthwhile)
        fail_to("look at " + name + " in", folder.string(), unreadable);
      (is_folder ? listing.folders : listing.files).push_back(std::move(name));
    }
    if (listed && ++names % kNamesBetweenSigns == 0) listed();
    entries.increment(error);
  }
  if (error) fail_to("list", folder.string(), error);
  if (listed) listed();
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return listing;
}

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::data, what + ". " + to_do);
}

void check_is_folder(const std::string& folder) {
  constexpr std::string_view kWanted =
      "Name a folder that holds one folder of JPEG or PNG files for each class, or TFRecord shards";
  std::error_code error;
  const auto status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) {
    refuse("the data folder " + folder + " does not exist", "Correct the path, or use synthetic");
  }
  if (error) fail_to("look at", folder, error);
  if (fs::is_directory(status)) return;
  refuse(folder + " is a file, not a folder", std::string(kWanted));
}

class Folder : public Dataset {
 public:
  Folder(std::string folder, const std::function<void()>& listed) : folder_(std::move(folder)) {
    const Listing top = list(folder_, listed);
    if (top.folders.empty()) refuse_without_classes(top);
    for (const std::string& name : top.folders) {
      Listing inside = list(fs::path(folder_) / name, listed);
      const size_t before = files_.size();
      for (std::string& file : inside.files) {
        if (!is_image_name(file)) continue;
        files_.push_back({std::move(file), static_cast<int32_t>(classes_.size())});
      }
      if (files_.size() == before) refuse_empty_class(name, inside);
      classes_.push_back(name);
    }
    files_.shrink_to_fit();
  }

  size_t size() const override { return files_.size(); }
  const std::vector<std::string>& class_names() const override { return classes_; }
  int32_t label(size_t index) const override { return files_[index].label; }
  std::string name(size_t index) const override {
    const File& file = files_[index];
    return folder_ + "/" + classes_[static_cast<size_t>(file.label)] + "/" + file.name;
  }
  std::string encoded(size_t index) const override { return read_image_file(name(index)); }
  bool pixels(size_t, int, uint8_t*) const override { return false; }

 private:
  struct File {
    std::string name;
    int32_t label;
  };

  [[noreturn]] void refuse_without_classes(const Listing& top) const {
    const bool images = std::any_of(top.files.begin(), top.files.end(), is_image_name);
    refuse("the data folder " + folder_ + " has no class folders",
           images ? "Move its images into one folder for each class"
                  : "Put one folder of JPEG or PNG files for each class into it");
  }

  [[noreturn]] void refuse_empty_class(const std::string& name, const Listing& inside) const {
    // One level too high is the usual slip: the folder that holds train and validation instead of
    // one of them.
    if (!inside.folders.empty()) {
      refuse("class " + name + " in " + folder_ + " has folders but no images of its own",
             "Name the folder that holds the class folders, perhaps " + folder_ + "/" + name);
    }
    refuse("class " + name + " in " + folder_ + " has no JPEG or PNG files (.jpg, .jpeg or .png)",
           inside.files.empty() ? "Put images into it or remove the folder"
                                : "Convert its files to JPEG or remove the folder");
  }

  std::string folder_;
  std::vector<std::string> classes_;
  std::vector<File> files_;
};

}  // namespace

std::unique_ptr<Dataset> open_folder(const std::string& folder, const std::function<void()>& listed) {
  check_is_folder(folder);
  std::string trimmed = folder;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  return std::make_unique<Folder>(std::move(trimmed), listed);
}

}  // namespace trainyard
