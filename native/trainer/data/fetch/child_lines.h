// Another program that says what it does in lines.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace trainyard {

/// Runs argv (argv[0] is looked up in PATH where it has no slash) with `input` on its stdin and our
/// environment and stderr, and calls `on_line` for each line of its stdout; if that throws, the
/// program is ended first. Returns its exit code, or 128 and the signal that ended it. Throws
/// file_error when it cannot be started.
int run_for_lines(const std::vector<std::string>& argv, const std::string& input,
                  const std::function<void(const std::string& line)>& on_line);

}  // namespace trainyard
