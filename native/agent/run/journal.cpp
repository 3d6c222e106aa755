#include "agent/run/journal.h"

#include <cstdio>

#include "common/files.h"
#include "common/process.h"

namespace trainyard {

namespace {
constexpr size_t kMostKept = size_t{1} << 20;  // bytes
}  // namespace

Journal::Journal(const std::string& path)
    : lines_(path, kMostKept, [this](const LostLines& lost) {
        return text_of("gap", {{"lines", lost.lines}, {"from", lost.from}, {"to", lost.to}});
      }) {
  const LineFile can_be_written(path);
}

std::string Journal::text_of(const std::string& kind, const Json& fields) const {
  Json line;
  line["time"] = now_seconds();
  line["kind"] = kind;
  line["generation"] = generation_;
  for (const auto& [name, value] : fields.items()) line[name] = value;
  return to_line(line);
}

void Journal::event(const std::string& kind, const Json& fields) {
  lines_.append(text_of(kind, fields), now_seconds(), kind == "finished");
  retry();
  if (heard_) heard_(kind, fields);
}

bool Journal::retry() {
  if (lines_.flush()) {
    if (delayed_) std::fprintf(stderr, "agent: events are journaled again\n");
    delayed_ = false;
    return true;
  }
  if (!delayed_) {
    std::fprintf(stderr, "agent: warning: events are not journaled: %s. They are kept and written later\n",
                 lines_.error().c_str());
  }
  delayed_ = true;
  return false;
}

}  // namespace trainyard
