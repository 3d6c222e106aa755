#include "trainer/data/archive/tar_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "common/error.h"

namespace trainyard {

namespace {

constexpr size_t kBlock = 512;
constexpr uint64_t kLongestText = uint64_t{1} << 20;

uint64_t rounded(uint64_t size) { return (size + kBlock - 1) / kBlock * kBlock; }

/// Octal digits between blanks and zeros, or base-256 where the first bit is set. Nothing where it
/// is neither.
std::optional<uint64_t> number(std::string_view field) {
  const auto first = static_cast<unsigned char>(field.front());
  if ((first & 0x80U) != 0) {
    uint64_t value = first & 0x7fU;
    for (const char c : field.substr(1)) {
      if (value >> 55U != 0) return std::nullopt;
      value = value << 8U | static_cast<unsigned char>(c);
    }
    return value;
  }
  while (!field.empty() && field.front() == ' ') field.remove_prefix(1);
  while (!field.empty() && (field.back() == ' ' || field.back() == '\0')) field.remove_suffix(1);
  if (field.empty()) return 0;
  uint64_t value = 0;
  const auto end = std::from_chars(field.data(), field.data() + field.size(), value, 8);
  if (end.ec != std::errc() || end.ptr != field.data() + field.size()) return std::nullopt;
  return value;
}

std::string text(std::string_view field) { return std::string(field.substr(0, field.find('\0'))); }

/// What pax headers say of the entry behind them.
struct Pax {
  std::optional<std::string> path;
  std::optional<uint64_t> size;
  bool sparse = false;
  bool damaged = false;
};

/// "LENGTH KEY=VALUE\n" after one another.
void read_pax(std::string_view records, Pax& pax) {
  while (!records.empty() && records.front() != '\0') {
    size_t length = 0;
    const auto end = std::from_chars(records.data(), records.data() + records.size(), length);
    const auto digits = static_cast<size_t>(end.ptr - records.data());
    pax.damaged = end.ec != std::errc() || length > records.size() || length < digits + 2 || records[digits] != ' ' ||
                  records[length - 1] != '\n';
    if (pax.damaged) return;
    const std::string_view record = records.substr(digits + 1, length - digits - 2);
    records.remove_prefix(length);
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") pax.path = std::string(value);
    if (key.starts_with("GNU.sparse")) pax.sparse = true;
    if (key != "size") continue;
    uint64_t size = 0;
    const auto stop = std::from_chars(value.data(), value.data() + value.size(), size);
    pax.damaged = stop.ec != std::errc() || stop.ptr != value.data() + value.size();
    if (pax.damaged) return;
    pax.size = size;
  }
}

}  // namespace

/// Offsets and widths as in POSIX.1-1988, ustar.
struct TarReader::Header {
  std::array<char, kBlock> block{};

  std::string_view field(size_t at, size_t width) const { return {block.data() + at, width}; }
  char type() const { return block[156]; }
  std::optional<uint64_t> size() const { return number(field(124, 12)); }
  bool is_zero() const {
    return std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; });
  }
  std::string path() const {
    const std::string name = text(field(0, 100));
    // GNU's own format has other things where ustar has the prefix.
    const std::string prefix = field(257, 6) == std::string_view("ustar\0", 6) ? text(field(345, 155)) : "";
    return prefix.empty() ? name : prefix + "/" + name;
  }
  /// The sum with blanks for itself; old programs added up signed bytes.
  bool is_sound() const {
    const auto wanted = number(field(148, 8));
    int64_t plain = 0;
    int64_t with_sign = 0;
    for (size_t i = 0; i < kBlock; ++i) {
      const char c = i >= 148 && i < 156 ? ' ' : block[i];
      plain += static_cast<unsigned char>(c);
      with_sign += static_cast<signed char>(c);
    }
    return wanted && (static_cast<int64_t>(*wanted) == plain || static_cast<int64_t>(*wanted) == with_sign);
  }
};

TarReader::TarReader(const ArchiveBytes& bytes, std::string name, uint64_t begin, uint64_t end)
    : bytes_(bytes), name_(std::move(name)), at_(begin), end_(end) {}

void TarReader::refuse(const std::string& what) const {
  throw Error(Exit::data, name_ + " " + what + ". Copy or download it again");
}

bool TarReader::read_header(Header& header) {
  if (end_ - at_ < kBlock || bytes_.read(at_, header.block.data(), kBlock) != kBlock) {
    refuse("is cut short: it has no end mark at byte " + std::to_string(at_));
  }
  if (header.is_zero()) return false;
  if (!header.is_sound()) {
    refuse("is no tar, or damaged: the checksum of the header at byte " + std::to_string(at_) + " is wrong");
  }
  at_ += kBlock;
  return true;
}

std::string TarReader::read_text(const TarEntry& entry) const {
  if (entry.size > kLongestText) refuse("has a name of more than 1 MiB at byte " + std::to_string(entry.offset));
  std::string read(static_cast<size_t>(entry.size), '\0');
  if (bytes_.read(entry.offset, read.data(), read.size()) != read.size()) refuse("is cut short");
  return read;
}

std::optional<TarEntry> TarReader::next() {
  std::optional<std::string> long_name;
  Pax pax;
  for (Header header; read_header(header);) {
    TarEntry entry;
    const char type = header.type();
    const bool about_next = type == 'L' || type == 'K' || type == 'x' || type == 'g';
    const auto size = about_next || !pax.size ? header.size() : pax.size;
    if (!size) refuse("is damaged: the size in the header before byte " + std::to_string(at_) + " is no number");
    // Links have a size in some archives, and never data.
    const bool link = type == '1' || type == '2';
    entry.size = link || type == '5' ? 0 : *size;
    entry.offset = at_;
    if (entry.size > end_ - at_) refuse("is cut short within the entry at byte " + std::to_string(at_));
    at_ += std::min(rounded(entry.size), end_ - at_);
    if (type == 'L') long_name = text(read_text(entry));
    if (type == 'x') read_pax(read_text(entry), pax);
    if (pax.damaged) refuse("is damaged: a pax header before byte " + std::to_string(at_) + " cannot be read");
    if (about_next) continue;
    if (type == 'S' || pax.sparse)
      refuse("holds a sparse file before byte " + std::to_string(at_) + ", which is not read here");
    entry.path = pax.path ? *pax.path : long_name ? *long_name : header.path();
    if (type == '0' || type == '\0' || type == '7') entry.kind = TarEntry::Kind::file;
    if (link) entry.kind = TarEntry::Kind::link;
    // Before POSIX a folder was a file whose name ends so.
    if (entry.path.ends_with('/')) entry.kind = TarEntry::Kind::other;
    return entry;
  }
  return std::nullopt;
}

}  // namespace trainyard
