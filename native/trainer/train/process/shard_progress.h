// What a person, and the agent, see of a long walk through shards.
#pragma once
#include <cstdint>
#include <functional>

namespace trainyard {

/// For DatasetOptions::progress: calls `beat` each time, and where `speak` is set prints a line to
/// stderr every few seconds, so that a short walk prints nothing.
std::function<void(int64_t done, int64_t total)> shard_progress(bool speak, std::function<void()> beat = {});

}  // namespace trainyard
