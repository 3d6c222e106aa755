// Paths as they come from a client: `~` is this node's, and folders we make are private.
#pragma once
#include <string>

namespace trainyard {

std::string home_folder();

/// `~` and `~/x` against this user's home; anything else unchanged. Throws FieldError unless the
/// result is absolute.
std::string expand_path(const std::string& path);

bool file_exists(const std::string& path);
bool folder_exists(const std::string& path);
/// Whether there is certainly nothing of that name. False too where its disk or file server gives
/// no answer.
bool is_gone(const std::string& path);

/// Makes `path` and missing parents, each new one with mode 0700. Throws file_error, and Error
/// (usage) where another user could change what is in it (ownership.h).
void make_private_folders(const std::string& path);

/// Without symbolic links where the path exists; otherwise the path itself.
std::string canonical_path(const std::string& path);

/// This program's own file.
std::string own_executable();

}  // namespace trainyard
