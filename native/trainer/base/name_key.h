// Names as numbers.
#pragma once
#include <cstdint>
#include <string_view>

namespace trainyard {

/// FNV-1a (Fowler, Noll, Vo), to turn a name into a key.
inline uint64_t name_key(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3ULL;
  return hash;
}

}  // namespace trainyard
