#include "trainer/data/prepare/partial_folder.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "common/error.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void check_target(const std::string& to) {
  const auto refuse = [](const std::string& what, const std::string& to_do) {
    throw Error(Exit::usage, what + ". " + to_do);
  };
  if (to.empty()) refuse("--to is empty", "Name the folder to make");
  std::error_code error;
  const auto status = fs::symlink_status(to, error);
  if (status.type() == fs::file_type::not_found) return;
  if (fs::is_directory(status) && fs::is_empty(to, error) && !error) return;
  refuse(to + (fs::is_directory(status) ? " exists and is not empty" : " exists and is no folder"),
         "Name another folder with --to or remove this one");
}

[[noreturn]] void fail(const std::string& what, const std::error_code& error) {
  throw Error(Exit::data, what + ": " + error.message() + ". Check the path, its permissions and the free space");
}

}  // namespace

PartialFolder::PartialFolder(std::string to) : to_(without_slashes(std::move(to))), path_(to_ + ".partial") {
  check_target(to_);
  std::error_code error;
  fs::remove_all(path_, error);
  if (!error) fs::create_directories(path_, error);
  if (error) fail("cannot make " + path_, error);
}

PartialFolder::PartialFolder(std::string to, bool is_own)
    : to_(without_slashes(std::move(to))), path_(to_ + ".partial"), is_own_(is_own) {}

PartialFolder PartialFolder::of_another_rank(const std::string& to) {
  PartialFolder folder(to, false);
  std::error_code ignored;
  if (fs::is_directory(folder.path_, ignored)) return folder;
  throw Error(Exit::data, folder.path_ + ", which rank 0 has made, is not there. Name a folder with --to that all " +
                              "nodes see, or use one rank");
}

PartialFolder::PartialFolder(PartialFolder&& other) noexcept
    : to_(std::move(other.to_)), path_(std::exchange(other.path_, "")), is_own_(other.is_own_) {}

PartialFolder::~PartialFolder() {
  std::error_code ignored;
  if (is_own_ && !path_.empty()) fs::remove_all(path_, ignored);
}

std::string PartialFolder::make(const std::string& name) const {
  std::error_code error;
  fs::create_directories(path_ + "/" + name, error);
  if (error) fail("cannot make " + path_ + "/" + name, error);
  return path_ + "/" + name + "/";
}

void PartialFolder::remove(const std::string& name) const {
  std::error_code error;
  fs::remove_all(path_ + "/" + name, error);
  if (error) fail("cannot remove " + path_ + "/" + name, error);
}

void PartialFolder::finish() {
  if (!is_own_) return;
  std::error_code error;
  fs::rename(path_, to_, error);
  if (error) fail("cannot rename " + path_ + " to " + to_, error);
  path_.clear();
}

}  // namespace trainyard
