// Where the event files of a run's own program are, and who wrote them.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

/// A folder with event files below it.
struct ReportRoot {
  std::string path;
  bool is_run_folder = false;  ///< whose own folders of other files are passed over
};

struct EventPath {
  std::string path;    ///< absolute
  std::string folder;  ///< of the file, below its root; empty for the root itself
  std::string name;    ///< of the file
  double written = 0;  ///< seconds since the epoch
};

/// The event files below the roots, by their names; each once. No link to a folder is followed,
/// and at most 20,000 entries, eight folders deep, are looked at. `cut`: there were more.
std::vector<EventPath> find_event_files(const std::vector<ReportRoot>& roots, bool& cut);

/// Which process wrote a file of that name (`events.out.tfevents.<time>.<host>.<pid>.<n>`): host
/// and pid, empty where the name does not say.
std::string process_of(const std::string& name);

}  // namespace trainyard
