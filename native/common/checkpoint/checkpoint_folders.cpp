#include "common/checkpoint/checkpoint_folders.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "common/error.h"

namespace trainyard {

std::string checkpoints_folder(const std::string& run_dir) { return run_dir + "/checkpoints"; }

std::string step_name(int64_t step) {
  const std::string digits = std::to_string(step);
  return "step-" + std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0') + digits;
}

std::optional<int64_t> step_of(std::string_view name) {
  constexpr std::string_view prefix = "step-";
  if (!name.starts_with(prefix)) return std::nullopt;
  const std::string_view digits = name.substr(prefix.size());
  int64_t step = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (error != std::errc() || end != digits.data() + digits.size() || step_name(step) != name) return std::nullopt;
  return step;
}

std::vector<std::string> checkpoint_entries(const std::string& run_dir) {
  const std::string folder = checkpoints_folder(run_dir);
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error))
    names.push_back(entries->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory) {
    errno = error.value();
    throw file_error("list", folder);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace trainyard
