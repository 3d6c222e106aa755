#include "agent/ranks/rank_text.h"

#include <algorithm>

#include "agent/messages/joined.h"

namespace trainyard {

namespace {

constexpr size_t kShortestRange = 3;
constexpr size_t kMostHosts = 4;  // that are all named

}  // namespace

std::string ranks_text(const std::vector<int>& numbers) {
  std::string text = numbers.size() == 1 ? "rank" : "ranks";
  for (size_t first = 0, end = 0; first < numbers.size(); first = end) {
    end = first + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    const bool is_range = end - first >= kShortestRange;
    if (!is_range) end = first + 1;
    text += (first == 0 ? " " : ", ") + std::to_string(numbers[first]);
    if (is_range) text += "-" + std::to_string(numbers[end - 1]);
  }
  return text;
}

std::string hosts_text(const std::vector<std::string>& hosts) {
  std::vector<std::string> once;
  for (const std::string& host : hosts) {
    if (std::ranges::find(once, host) == once.end()) once.push_back(host);
  }
  const size_t named = once.size() <= kMostHosts ? once.size() : kMostHosts - 1;
  const size_t unnamed = once.size() - named;
  once.resize(named);
  return joined(once, ", ") + (unnamed == 0 ? "" : " and " + std::to_string(unnamed) + " more");
}

}  // namespace trainyard
