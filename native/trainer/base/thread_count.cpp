// What is said of the threads that were asked for.
#include "trainer/base/parallel.h"

namespace trainyard {

std::optional<std::string> ThreadCount::text() const {
  if (got < wanted) {
    const std::string cause = limit.empty() ? "OpenMP starts" : limit + " allows";
    const std::string to_do = limit.empty() ? "Ask" : "Unset " + limit.substr(0, limit.find('=')) + ", or ask";
    return std::to_string(wanted) + " threads are asked for and " + cause + " " + std::to_string(got) +
           ", which are used. " + to_do + " for that many with --threads";
  }
  if (not_followed.empty()) return std::nullopt;
  std::string names;
  for (const std::string& name : not_followed) names += (names.empty() ? "" : " and ") + name;
  return names + (not_followed.size() == 1 ? " is" : " are") + " not followed: the number of threads stays " +
         std::to_string(got);
}

}  // namespace trainyard
