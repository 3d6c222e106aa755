#include "agent/run/folder/run_folder.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <functional>
#include <random>

#include "agent/messages/rpc_error.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/given_up.h"

namespace trainyard {

namespace fs = std::filesystem;

RunFolder::RunFolder(const std::string& dir) : dir_(canonical_path(dir)) {
  while (dir_.size() > 1 && dir_.back() == '/') dir_.pop_back();
}

std::string RunFolder::heartbeat(int rank) const { return heartbeats() + "/rank-" + std::to_string(rank); }

static std::string numbered(int generation, int rank) {
  return "gen-" + std::to_string(generation) + "-rank-" + std::to_string(rank) + ".json";
}

std::string RunFolder::exit_record(int generation, int rank) const {
  return file("exits/" + numbered(generation, rank));
}

std::string RunFolder::start_record(int generation, int rank) const {
  return file("processes/" + numbered(generation, rank));
}

std::string RunFolder::command(int generation) const {
  return file("processes/gen-" + std::to_string(generation) + "-command.json");
}

std::string RunFolder::all_ended(int generation) const {
  return file("processes/gen-" + std::to_string(generation) + "-ended");
}

void RunFolder::remove_records(int generation, int first, int count) const {
  std::vector<std::string> paths{all_ended(generation), given_up_file(dir(), generation)};
  for (int rank = first; rank < first + count; ++rank) {
    paths.push_back(exit_record(generation, rank));
    paths.push_back(start_record(generation, rank));
  }
  for (const std::string& path : paths) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) throw file_error("remove", path);
  }
}

void RunFolder::make_folders() const {
  for (const char* name : {"gpus", "logs", "heartbeats", "exits", "processes", "checkpoints"}) {
    make_private_folders(file(name));
  }
}

std::string make_run_id(const std::string& label) {
  std::string kept;
  for (const char letter : label) {
    const unsigned char byte = static_cast<unsigned char>(letter);
    if (std::isalnum(byte) != 0 && byte < 128) {
      kept.push_back(static_cast<char>(std::tolower(byte)));
    } else if (!kept.empty() && kept.back() != '-') {
      kept.push_back('-');
    }
    if (kept.size() == 32) break;
  }
  while (!kept.empty() && kept.back() == '-') kept.pop_back();
  if (kept.empty()) kept = "run";

  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &utc);
  char hex[8];
  std::random_device random;
  std::snprintf(hex, sizeof hex, "%04x", random() & 0xffffU);
  return std::string(stamp) + "-" + kept + "-" + hex;
}

bool is_run_id(const std::string& id) {
  if (id.empty() || id.size() > 100 || id.front() == '.') return false;
  return std::all_of(id.begin(), id.end(), [](char letter) {
    const unsigned char byte = static_cast<unsigned char>(letter);
    return (byte < 128 && std::isalnum(byte) != 0) || letter == '.' || letter == '_' || letter == '-';
  });
}

RunFolder existing_run_folder(const std::string& dir) {
  const RunFolder folder(dir);
  if (!file_exists(folder.run())) {
    throw RpcError(RpcCode::not_found, "no run in " + folder.dir() + " (run.json is missing)");
  }
  return folder;
}

std::vector<std::string> list_run_folders(const std::string& workdir) {
  std::vector<std::string> dirs = folders_in(workdir + "/runs");
  std::erase_if(dirs, [](const std::string& dir) { return !file_exists(dir + "/run.json"); });
  return dirs;
}

std::vector<std::string> folders_in(const std::string& runs) {
  std::vector<std::string> dirs;
  std::error_code failed;
  for (fs::directory_iterator entry(runs, failed), end; !failed && entry != end; entry.increment(failed)) {
    dirs.push_back(entry->path().string());
  }
  std::sort(dirs.begin(), dirs.end(), std::greater<>());
  return dirs;
}

}  // namespace trainyard
