#include "agent/ranks/python_environment.h"

#include <cstdlib>

#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "common/error.h"

namespace trainyard {

std::string python_environment(const Json& program) {
  if (!program.is_object()) return "";
  const std::string given = Fields(program, "program").optional_string("environment").value_or("");
  return given.empty() ? given : expand_path(given);
}

void enter_python_environment(const std::string& folder) {
  if (!file_exists(folder + "/bin/python3")) {
    throw Error(Exit::device, "the packages of this run are not on this node: " + folder +
                                  " is not there, or its Python is gone. Start the run anew with its requirements");
  }
  const char* path = std::getenv("PATH");
  ::setenv("PATH", with_bin_of(folder, path == nullptr ? "" : path).c_str(), 1);
  ::setenv("VIRTUAL_ENV", folder.c_str(), 1);
  ::unsetenv("PYTHONHOME");
}

}  // namespace trainyard
