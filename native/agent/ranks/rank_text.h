// Ranks and hosts in one line for people, however many they are.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

/// "rank 3", "ranks 0, 2", "ranks 0-63, 70" for numbers in ascending order.
std::string ranks_text(const std::vector<int>& numbers);

/// Each host once, in the order given: "gpu1, gpu2", and of many "gpu1, gpu2, gpu3 and 29 more".
std::string hosts_text(const std::vector<std::string>& hosts);

}  // namespace trainyard
