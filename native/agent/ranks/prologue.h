// The profile's prologue: shell text that runs before a program, in whose environment the program
// then is (docs/contracts/programs.md).
#pragma once
#include <string>
#include <vector>

namespace trainyard {

/// A command line that runs the prologue in a login shell, which then becomes the program; `command`
/// itself where there is no prologue. `environment` is empty, or the folder of a Python environment
/// that comes first on PATH after the prologue too. A prologue that fails, or a program that is
/// missing after it, ends with exit code 4 and a line that names `who` ("rank 1 on gpu2"). Its
/// standard output must be a file.
std::vector<std::string> with_prologue(const std::string& prologue, const std::string& who,
                                       const std::string& environment, const std::vector<std::string>& command);

}  // namespace trainyard
