// The exception that a Python program printed as it ended.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace trainyard {

/// "ModuleNotFoundError: No module named 'x'": the first line of the last exception whose traceback
/// ends in the last 64 KiB of this log, after byte `begin`. Marks that torch puts before a line
/// ("[rank3]: ") are left out. torchrun's own ChildFailedError gives way to the exception that its
/// process printed. 500 bytes at most; nothing where there is none or the log cannot be read.
std::optional<std::string> last_python_exception(const std::string& log, uint64_t begin);

/// Whether the exception is of the program's text, so that the next start would end in it too:
/// SyntaxError and its kinds, NameError, ImportError, ModuleNotFoundError.
bool is_mistake_in_the_text(const std::string& exception);

}  // namespace trainyard
