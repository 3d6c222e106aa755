// Where records go on behind a damaged length.
#pragma once
#include <cstdint>
#include <string>

namespace trainyard {

/// The offset of the first sound record (both its sums hold) at `from` or later in the `size` bytes
/// of the shard; `size` where there is none, or where so much looks like one that the search was
/// given up. `path` is for messages. Throws file_error.
uint64_t next_sound_record(int fd, const std::string& path, uint64_t size, uint64_t from);

}  // namespace trainyard
