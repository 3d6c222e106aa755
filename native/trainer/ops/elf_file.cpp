#include "trainer/ops/elf_file.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

namespace trainyard {

namespace {

/// Whether [offset, offset + bytes) lies in a file of `size`, whatever the numbers are.
bool inside(uint64_t offset, uint64_t bytes, uint64_t size) { return offset <= size && bytes <= size - offset; }

std::string cut_short(uint64_t size) {
  return "is shorter than its own headers say: it was cut short at " + std::to_string(size) + " bytes";
}

/// One thing of the file, or nothing where the file ends before it.
template <class T>
std::optional<T> at(const std::string& file, uint64_t offset) {
  if (!inside(offset, sizeof(T), file.size())) return std::nullopt;
  T made{};
  std::memcpy(&made, file.data() + offset, sizeof(T));
  return made;
}

std::vector<Elf64_Phdr> segments_of(const std::string& file) {
  std::vector<Elf64_Phdr> segments;
  const auto header = at<Elf64_Ehdr>(file, 0);
  for (uint64_t i = 0; header && i < header->e_phnum; ++i) {
    const auto segment = at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (segment) segments.push_back(*segment);
  }
  return segments;
}

/// Where in the file the byte is that is loaded to `address`.
std::optional<uint64_t> place_of(const std::vector<Elf64_Phdr>& segments, uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    const bool has_it =
        segment.p_type == PT_LOAD && address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz;
    if (has_it) return segment.p_offset + (address - segment.p_vaddr);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> elf_needs(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  const std::vector<Elf64_Phdr> segments = segments_of(file);
  const auto dynamic =
      std::ranges::find_if(segments, [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
  if (dynamic == segments.end()) return {};
  std::vector<uint64_t> names;  // counted from where the strings begin
  std::optional<uint64_t> strings;
  for (uint64_t offset = 0; offset < dynamic->p_filesz; offset += sizeof(Elf64_Dyn)) {
    const auto entry = at<Elf64_Dyn>(file, dynamic->p_offset + offset);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_NEEDED) names.push_back(entry->d_un.d_val);
    if (entry->d_tag == DT_STRTAB) strings = place_of(segments, entry->d_un.d_ptr);
  }
  std::vector<std::string> needed;
  for (const uint64_t name : names) {
    if (!strings || !inside(*strings, name, file.size())) continue;
    const uint64_t begin = *strings + name;
    const size_t end = file.find('\0', begin);
    if (end != std::string::npos) needed.push_back(file.substr(begin, end - begin));
  }
  return needed;
}

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
