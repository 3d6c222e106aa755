#include "trainer/ops/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace trainyard {

namespace {

/// Whether [offset, offset + bytes) lies in a file of `size`, whatever the numbers are.
bool inside(uint64_t offset, uint64_t bytes, uint64_t size) { return offset <= size && bytes <= size - offset; }

std::string cut_short(uint64_t size) {
  return "is shorter than its own headers say: it was cut short at " + std::to_string(size) + " bytes";
}

}  // namespace

std::string elf_damage(const std::string& path) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return "cannot be read";
  Elf64_Ehdr header{};
  if (size < SELFMAG) return "is no shared library";
  file.read(reinterpret_cast<char*>(&header), static_cast<std::streamsize>(std::min<uint64_t>(size, sizeof(header))));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return "is no shared library";
  if (size < sizeof(header)) return cut_short(size);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_machine != EM_X86_64 || header.e_type != ET_DYN) {
    return "is no shared library for x86-64";
  }
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) return "has headers that make no sense";
  const uint64_t segments = uint64_t{header.e_phnum} * header.e_phentsize;
  if (!inside(header.e_phoff, segments, size)) return cut_short(size);
  // The table of sections stands behind everything else in what linkers write.
  if (!inside(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize, size)) return cut_short(size);
  std::vector<Elf64_Phdr> table(header.e_phnum);
  file.seekg(static_cast<std::streamoff>(header.e_phoff));
  file.read(reinterpret_cast<char*>(table.data()), static_cast<std::streamsize>(segments));
  if (!file) return "cannot be read";
  for (const Elf64_Phdr& segment : table) {
    if (segment.p_type != PT_NULL && !inside(segment.p_offset, segment.p_filesz, size)) return cut_short(size);
  }
  return "";
}

}  // namespace trainyard
