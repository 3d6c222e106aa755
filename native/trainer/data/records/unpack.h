// Shards that were compressed as a whole.
#pragma once
#include <string>
#include <string_view>

#include "common/files.h"

namespace trainyard {

/// Whether `head`, a file's first kRecordHeader bytes, begins a gzip file (RFC 1952) rather than a
/// record.
bool is_gzip(std::string_view head);

/// What `packed`, a gzip file of one member or several, holds: in a file without a name in TMPDIR,
/// which goes when it is closed, as records are read in any order. `path` is for messages.
/// Throws Error(Exit::data): it is damaged or cut short, or there is no room for it.
Descriptor unpack(const Descriptor& packed, const std::string& path);

}  // namespace trainyard
