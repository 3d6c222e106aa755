#include "agent/journal.h"

#include <cstdio>

#include "common/error.h"
#include "common/process.h"

namespace trainyard {

void Journal::event(const std::string& kind, const Json& fields) {
  Json line;
  line["time"] = now_seconds();
  line["kind"] = kind;
  line["generation"] = generation_;
  for (const auto& [name, value] : fields.items()) line[name] = value;
  try {
    file_.append(to_line(line));
  } catch (const Error& error) {
    std::fprintf(stderr, "agent: warning: event %s not journaled: %s\n", kind.c_str(), error.what());
  }
}

}  // namespace trainyard
