// Files of a folder and of the folders below it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// Paths of the files whose names `wanted` takes: those of the folder first, then those of its
/// folders, each in the order of their names' bytes. Hidden ones and links to folders, which may
/// lead back up, are left out. what: what the folder is, for messages. Throws file_error.
std::vector<std::string> files_below(const std::string& folder, const std::string& what,
                                     bool (*wanted)(std::string_view name));

}  // namespace trainyard
