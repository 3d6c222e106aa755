// What the own program of a run reports, found and put into figures.jsonl (docs/contracts/figures.md).
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/reports/event_file.h"
#include "agent/reports/own_lines.h"
#include "agent/reports/report_paths.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

class Collector {
 public:
  /// A line for the journal: its kind and its fields.
  using Notice = std::function<void(const std::string& kind, const Json& fields)>;

  /// `logdir`: a further folder, or empty. `began` (seconds since the epoch): what other files of
  /// that folder held before is not the run's. Goes on where figures.state.json says. `prefix` stands
  /// before the names of its two files, such as "nodes/gpu2/".
  Collector(const RunFolder& folder, const std::string& logdir, double began, Notice notice,
            const std::string& prefix = "");

  void set_generation(int generation) { generation_ = generation; }
  /// Reads what is new, some MiB at most, and appends it. True when there is more. Never throws for
  /// what files hold; a disk that takes no line makes it try again at the next look.
  bool look();
  /// Says how many wrong lines there were after the first.
  void conclude();

 private:
  struct Source {
    EventFile file;
    std::string writer;
    int generation = 1;
    bool ended = false;  ///< damaged, or of before the run
  };

  void find_files();
  void add(const EventPath& found);
  std::string writer_of(const EventPath& found);
  bool read(const std::string& path, Source& source);
  bool read_own_lines();
  std::string named(const std::string& path) const;
  /// Appends to figures.jsonl. Throws Error where the disk takes nothing.
  void append(const std::vector<Scalar>& scalars, const std::string& source, const std::string& writer, int generation);
  bool has_room_for(const std::string& series);
  void load();
  void save();
  void say_once(const std::string& key, const std::string& kind, const Json& fields);

  RunFolder folder_;
  const std::string figures_, state_;  ///< paths
  std::vector<ReportRoot> roots_;
  double began_;
  Notice notice_;
  int generation_ = 1;
  bool first_look_ = true;
  double next_search_ = 0;                                                     ///< monotonic seconds
  std::map<std::string, Source> sources_;                                      ///< by path
  std::map<std::string, std::pair<int, std::vector<std::string>>> processes_;  ///< writers of a folder's generation
  OwnLines own_lines_;
  uint64_t wrong_ = 0;
  std::set<std::string> series_, said_;
  bool changed_ = false;
};

/// At most about 200 of the figures of one tag, in their order: of each stretch the least, the
/// greatest and the last.
std::vector<Scalar> thinned(const std::vector<Scalar>& figures);

}  // namespace trainyard
