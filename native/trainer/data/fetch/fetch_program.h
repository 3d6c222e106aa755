// The Python programs beside the trainer that move files from and to other places.
#pragma once
#include <functional>
#include <string>

namespace trainyard {

/// Runs share/fetch/PROGRAM with `order` on its stdin, and calls `on_line` for each line that it
/// prints. `what`: the file, for people. Returns its exit code. Throws Error(Exit::device) where the
/// program or Python 3 is missing.
int run_fetch_program(const std::string& program, const std::string& order, const std::string& what,
                      const std::function<void(const std::string& line)>& on_line);

}  // namespace trainyard
