// events.jsonl: the supervisor's journal.
#pragma once
#include <string>

#include "agent/json.h"
#include "common/files.h"

namespace trainyard {

class Journal {
 public:
  explicit Journal(const std::string& path) : file_(path) {}
  void set_generation(int generation) { generation_ = generation; }

  /// Appends one line with time, kind, generation and then `fields`. A journal that cannot be written (a full disk) is
  /// said on stderr, which is supervisor.log, and never ends a run.
  void event(const std::string& kind, const Json& fields = Json::object());

 private:
  LineFile file_;
  int generation_ = 1;
};

}  // namespace trainyard
