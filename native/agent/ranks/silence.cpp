#include "agent/ranks/silence.h"

#include <algorithm>
#include <filesystem>

namespace trainyard {

namespace {

constexpr uintmax_t kFullDisk = 64 * 1024;  // bytes that are free
constexpr double kNearly = 0.9;             // of the longest silence

uintmax_t size_of(const std::string& path) {
  std::error_code absent;
  const uintmax_t size = std::filesystem::file_size(path, absent);
  return absent ? 0 : size;
}

bool is_full(const std::string& dir) {
  std::error_code unknown;
  const std::filesystem::space_info space = std::filesystem::space(dir, unknown);
  return !unknown && space.available < kFullDisk;
}

}  // namespace

SilenceWatch::SilenceWatch(const RunFolder& folder, int ranks, double limit) : dir_(folder.dir()), limit_(limit) {
  if (!watches()) return;
  for (int rank = 0; rank < ranks; ++rank) files_.push_back({folder.log("rank-" + std::to_string(rank))});
  for (const std::string& figures : {folder.file("figures.jsonl"), folder.metrics()}) files_.push_back({figures});
}

bool SilenceWatch::look(double now) {
  if (!watches()) return false;
  const bool is_first = !watched_.has_looked();
  watched_.look(now);
  bool came = false;
  for (File& file : files_) {
    const uintmax_t size = size_of(file.path);
    if (size == file.size) continue;
    came = came || !is_first;
    file.size = size;
    file.changed = watched_.seconds();
  }
  if (came) {
    before_ = seconds();
    if (spoke_) longest_before_ = std::max(longest_before_, before_);
    spoke_ = true;
    newest_ = watched_.seconds();
  } else if (is_stalled() && is_full(dir_)) {
    newest_ = watched_.seconds();
  }
  return came;
}

bool SilenceWatch::is_stalled() const {
  return is_over() || (watches() && seconds() > std::max(0.75 * limit_, 2 * longest_before_));
}

std::vector<int> SilenceWatch::longest(const std::vector<bool>& excused) const {
  double most = 0;
  for (size_t rank = 0; rank < excused.size(); ++rank) {
    if (!excused[rank]) most = std::max(most, seconds_of(static_cast<int>(rank)));
  }
  std::vector<int> ranks;
  for (size_t rank = 0; rank < excused.size(); ++rank) {
    if (!excused[rank] && seconds_of(static_cast<int>(rank)) >= kNearly * most) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

}  // namespace trainyard
