// Whether the global batch of a training can be shared equally by another number of ranks.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// The value of `--flag VALUE` or `--flag=VALUE`.
std::optional<std::string> flag_value(const std::vector<std::string>& argv, const std::string& flag);

/// Whether our trainer takes this command with so many ranks, where it was planned for `planned`.
/// True where that is not known: with servers, and for values that are no numbers.
bool shares_batch(const std::vector<std::string>& argv, int planned, int ranks);

}  // namespace trainyard
