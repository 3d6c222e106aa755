// Names inside <run>/checkpoints.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

std::string checkpoints_folder(const std::string& run_dir);

/// "step-00000120": eight digits, more only where the number needs them.
std::string step_name(int64_t step);

/// The step that a folder's name says; nothing for any other name.
std::optional<int64_t> step_of(std::string_view name);

/// What a name starts with besides "step-…". Temporary ones may go at any time; a replaced one is
/// the old checkpoint of a step while the new one takes its place on a file system that cannot
/// exchange two names, and counts until it has.
inline constexpr const char* temporary_prefix = ".tmp-";
inline constexpr const char* replaced_prefix = ".old-";

/// The entries of <run>/checkpoints, sorted; empty when there is no such folder. Throws file_error.
std::vector<std::string> checkpoint_entries(const std::string& run_dir);

}  // namespace trainyard
