// Whether a shared library is all there, and what it needs.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

/// Why `path` is not a whole shared library of this kind of machine ("is shorter than its own table
/// says …"), as the end of a sentence that begins with its name; empty when it is one. Looks at its
/// size and headers only (ELF-64, System V ABI, chapters 4 and 5).
std::string elf_damage(const std::string& path);

/// The libraries that `path` names as needed ("libcublas.so.13"), of a file that elf_damage() finds
/// whole. Nothing where its tables make no sense.
std::vector<std::string> elf_needs(const std::string& path);

}  // namespace trainyard
