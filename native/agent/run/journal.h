// events.jsonl: the supervisor's journal.
#pragma once
#include <functional>
#include <string>

#include "agent/messages/json.h"
#include "common/kept_lines.h"

namespace trainyard {

class Journal {
 public:
  /// Throws file_error when the file cannot be opened or made.
  explicit Journal(const std::string& path);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  /// Tells `heard` of each event, with its kind and fields, once it is written or kept.
  void listen(std::function<void(const std::string& kind, const Json& fields)> heard) { heard_ = std::move(heard); }
  void set_generation(int generation) { generation_ = generation; }
  int generation() const { return generation_; }

  /// Appends one line with time, kind, generation and then `fields`. A journal that cannot be
  /// written (a full or read-only disk) is said on stderr, which is supervisor.log, and never ends
  /// a run: up to 1 MiB of lines are kept for retry(), and a line of kind "gap" declares what is
  /// given up over that.
  void event(const std::string& kind, const Json& fields = Json::object());
  /// Tries again to write what waits. True when nothing does.
  bool retry();

 private:
  std::string text_of(const std::string& kind, const Json& fields) const;

  KeptLines lines_;
  std::function<void(const std::string&, const Json&)> heard_;
  int generation_ = 1;
  bool delayed_ = false;
};

}  // namespace trainyard
