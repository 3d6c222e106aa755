// Where the locks of GPUs and the queue for them are, and what both ask of their files.
#pragma once
#include <string>

#include "common/files.h"

namespace trainyard {

inline constexpr const char* kGpuLocksVariable = "TRAINYARD_GPU_LOCKS";

/// `/tmp/trainyard-gpus-UID`, or what TRAINYARD_GPU_LOCKS names.
std::string gpu_locks_folder();

/// Of the slots that runs of a group share.
std::string slots_folder(const std::string& group);

/// Whether the path still leads to this open file.
bool is_the_file_at(const Descriptor& file, const std::string& path);

}  // namespace trainyard
