// The Python environment of an own program: packages that the client put on each node
// (docs/contracts/nodes.md, "Packages of own programs").
#pragma once
#include <string>

#include "agent/messages/json.h"

namespace trainyard {

/// The folder of the environment on this node; empty where `program` (program_description()) names
/// none. Throws FieldError for a path that is not absolute.
std::string python_environment(const Json& program);

/// Makes `folder` the Python environment of this process and of what it starts, as its own
/// `activate` would. Throws Error(Exit::device) where the environment is not on this node.
void enter_python_environment(const std::string& folder);

}  // namespace trainyard
