#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "common/error.h"
#include "trainer/data/files_below.h"
#include "trainer/data/images/image_file.h"
#include "trainer/data/images/image_names.h"
#include "trainer/data/kinds.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

class PlainImages : public Dataset {
 public:
  PlainImages(std::vector<std::string> paths, std::vector<std::string> classes)
      : paths_(std::move(paths)), classes_(std::move(classes)) {}

  size_t size() const override { return paths_.size(); }
  const std::vector<std::string>& class_names() const override { return classes_; }
  int32_t label(size_t) const override { return 0; }
  std::string name(size_t index) const override { return paths_[index]; }
  std::string encoded(size_t index) const override { return read_image_file(paths_[index]); }
  bool pixels(size_t, int, uint8_t*) const override { return false; }

 private:
  std::vector<std::string> paths_;
  std::vector<std::string> classes_;
};

std::vector<std::string> read_list(const std::string& list) {
  std::ifstream file(list);
  if (!file) throw file_error("read", list);
  const fs::path folder = fs::path(list).parent_path();
  std::vector<std::string> paths;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (line.empty()) continue;
    const fs::path path = folder / line;  // the line itself where it is absolute
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      throw Error(Exit::data, "line " + std::to_string(number) + " of " + list + " names " + path.string() +
                                  ", which is no file. Give one path a line, absolute or from the list's own folder");
    }
    paths.push_back(path.string());
  }
  if (file.bad()) throw file_error("read", list);
  if (paths.empty()) throw Error(Exit::data, list + " is empty. Give the path of one image a line");
  return paths;
}

}  // namespace

std::unique_ptr<Dataset> open_plain_images(const std::string& spec, std::vector<std::string> class_names) {
  std::error_code error;
  const auto status = fs::status(spec, error);
  if (status.type() == fs::file_type::not_found) {
    throw Error(Exit::data, spec + " does not exist. Name a folder of images, an image, or a list of images");
  }
  if (error) {
    errno = error.value();
    throw file_error("look at", spec);
  }
  std::vector<std::string> paths;
  if (fs::is_directory(status)) {
    std::string folder = spec;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    paths = files_below(folder, "the data folder", is_image_name);
    if (paths.empty()) {
      throw Error(Exit::data, spec + " holds no JPEG or PNG files (.jpg, .jpeg or .png). Name another folder");
    }
  } else if (is_image_name(spec)) {
    paths.push_back(spec);
  } else {
    paths = read_list(spec);
  }
  return std::make_unique<PlainImages>(std::move(paths), std::move(class_names));
}

}  // namespace trainyard
