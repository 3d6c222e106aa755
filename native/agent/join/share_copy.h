// The node's side of a shared folder: brings it to what the head has, once.
#pragma once
#include <memory>
#include <string>

#include "agent/join/file_copy.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

/// `share`: the folder's name, as run.json has it. Throws FieldError for one that cannot be shared.
std::unique_ptr<FileCopyThread> start_share_copy(const RunFolder& folder, const JoinSpec& spec,
                                                 const std::string& share);

}  // namespace trainyard
