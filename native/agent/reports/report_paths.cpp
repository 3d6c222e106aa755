#include "agent/reports/report_paths.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace trainyard {

namespace fs = std::filesystem;

namespace {

constexpr int kDeepest = 8;
constexpr size_t kMostEntries = 20'000;
constexpr std::array<std::string_view, 8> kNoReports{"checkpoints", "logs",      "gpus",   "heartbeats",
                                                     "exits",       "processes", "mirror", "former"};

class Search {
 public:
  void below(const ReportRoot& root) {
    root_ = root;
    look_in(root.path, "", 0);
  }
  std::vector<EventPath> found() {
    std::ranges::sort(found_, {}, &EventPath::name);
    return std::move(found_);
  }
  bool cut() const { return entries_ >= kMostEntries; }

 private:
  void look_in(const std::string& path, const std::string& folder, int depth) {
    std::error_code failed;
    fs::directory_iterator entry(path, failed);
    for (const fs::directory_iterator end; !failed && entry != end && !cut(); entry.increment(failed)) {
      ++entries_;
      const std::string name = entry->path().filename().string();
      const auto kind = entry->symlink_status(failed).type();
      if (failed) {
        failed.clear();
      } else if (kind == fs::file_type::directory) {
        const bool is_ours =
            root_.is_run_folder && depth == 0 && std::ranges::find(kNoReports, name) != kNoReports.end();
        if (depth < kDeepest && !is_ours)
          look_in(path + "/" + name, folder.empty() ? name : folder + "/" + name, depth + 1);
      } else if (kind == fs::file_type::regular && name.find("tfevents") != std::string::npos) {
        add(path + "/" + name, folder, name);
      }
    }
  }

  void add(const std::string& path, const std::string& folder, const std::string& name) {
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0 || !seen_.emplace(info.st_dev, info.st_ino).second) return;
    found_.push_back({path, folder, name,
                      static_cast<double>(info.st_mtim.tv_sec) + static_cast<double>(info.st_mtim.tv_nsec) / 1e9});
  }

  ReportRoot root_;
  size_t entries_ = 0;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::vector<EventPath> found_;
};

}  // namespace

std::vector<EventPath> find_event_files(const std::vector<ReportRoot>& roots, bool& cut) {
  Search search;
  for (const ReportRoot& root : roots) search.below(root);
  cut = search.cut();
  return search.found();
}

std::string process_of(const std::string& name) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find('.', begin), name.size());
    parts.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto is_number = [](const std::string& part) {
    return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
  };
  // Of the parts behind the time a host may have dots of its own. Pid and count are numbers; a
  // suffix that a user chose, such as ".v2", may follow.
  const auto tag = std::ranges::find(parts, "tfevents");
  const auto first = static_cast<size_t>(tag - parts.begin()) + 2;
  for (size_t at = parts.size(); at-- > first + 1;) {
    if (at + 1 < parts.size() && is_number(parts[at]) && is_number(parts[at + 1])) {
      std::string process;
      for (size_t part = first; part <= at; ++part) process += (part > first ? "." : "") + parts[part];
      return process;
    }
  }
  return "";
}

}  // namespace trainyard
