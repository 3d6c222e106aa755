#include "agent/figures/gpu_process.h"

#include <pwd.h>
#include <sys/stat.h>

#include <array>
#include <cctype>
#include <filesystem>
#include <string>

#include "agent/system/kill.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr size_t kMostLetters = 160;

/// The user's name, or the number where there is no name; null where the process is gone.
Json user_of(const std::string& process) {
  struct stat info{};
  if (::stat(process.c_str(), &info) != 0) return nullptr;
  std::array<char, 16384> text{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(info.st_uid, &entry, text.data(), text.size(), &found);
  return found != nullptr ? std::string(found->pw_name) : std::to_string(info.st_uid);
}

std::string text_of(const std::string& path) {
  try {
    return read_file(path);
  } catch (const Error&) {
    return "";  // gone, or hidden from us
  }
}

/// What is shown in a terminal and sent as JSON: printable ASCII alone.
Json command_of(const std::string& process) {
  std::string words = text_of(process + "/cmdline");
  while (!words.empty() && words.back() == '\0') words.pop_back();
  if (words.empty()) return nullptr;
  for (char& letter : words) {
    if (letter == '\0') letter = ' ';
    if (std::isprint(static_cast<unsigned char>(letter)) == 0) letter = '?';
  }
  if (words.size() > kMostLetters) words = words.substr(0, kMostLetters - 3) + "...";
  return words;
}

Json run_of(const std::string& process) {
  const std::string name = '\0' + std::string(kRunVariable) + "=";
  const std::string environment = '\0' + text_of(process + "/environ") + '\0';
  const size_t at = environment.find(name);
  if (at == std::string::npos) return nullptr;
  const size_t begin = at + name.size();
  const std::filesystem::path dir = environment.substr(begin, environment.find('\0', begin) - begin);
  const std::string id = dir.filename().string();
  return id.empty() ? Json(nullptr) : Json(id);
}

}  // namespace

Json gpu_process(int pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  return {{"pid", pid}, {"user", user_of(process)}, {"command", command_of(process)}, {"run", run_of(process)}};
}

Json without_commands(Json sample) {
  for (Json& gpu : sample["gpus"]) {
    for (Json& process : gpu["processes"]) process.erase("command");
  }
  return sample;
}

}  // namespace trainyard
