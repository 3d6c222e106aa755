// about.json: what people call a run and write about it. It may change while the run goes on.
#pragma once
#include <string>

#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

/// `{"name":"…","tags":["…"],"notes":"…"}`, with the fields that were left out as empty ones.
/// Throws FieldError naming the field that is too long or of another type.
Json parse_about(const Json& given, const std::string& where);

/// As it lies in the run folder; null where nobody has written anything, or the file is damaged.
Json read_about(const RunFolder& folder);

/// Replaces the file. `about` comes from parse_about. Throws Error where it cannot be written.
void write_about(const RunFolder& folder, const Json& about);

}  // namespace trainyard
