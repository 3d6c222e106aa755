// Texts in one line for people.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

/// "gpu1, gpu2" of two texts with ", " between them; empty of none.
inline std::string joined(const std::vector<std::string>& texts, const std::string& between) {
  std::string line;
  for (const std::string& text : texts) line += (line.empty() ? "" : between) + text;
  return line;
}

/// "node gpu1", "nodes gpu1, gpu2".
inline std::string nodes_text(const std::vector<std::string>& hosts) {
  return (hosts.size() == 1 ? "node " : "nodes ") + joined(hosts, ", ");
}

}  // namespace trainyard
