// Who besides this user may change what is run or believed here: docs/contracts/nodes.md,
// Folders of one's own. native/node/owner.py holds the same rule for the set-up program.
#pragma once
#include <optional>
#include <string>

namespace trainyard {

/// Of the first folder or link on the way to `path`, itself included, in which another user could
/// put something else: "WHAT. WHAT TO DO". What does not exist yet is nobody's. Throws file_error.
std::optional<std::string> stranger_on_the_way(const std::string& path);

/// Throws Error (usage) where there is one.
void require_own(const std::string& path);

}  // namespace trainyard
