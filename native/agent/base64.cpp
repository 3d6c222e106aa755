#include "agent/base64.h"

#include <cstdint>

namespace trainyard {

std::string base64(std::string_view bytes) {
  static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const size_t left = bytes.size() - at;
    uint32_t group = static_cast<uint8_t>(bytes[at]) << 16;
    if (left > 1) group |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[at + 1])) << 8;
    if (left > 2) group |= static_cast<uint8_t>(bytes[at + 2]);
    text.push_back(kLetters[group >> 18 & 63]);
    text.push_back(kLetters[group >> 12 & 63]);
    text.push_back(left > 1 ? kLetters[group >> 6 & 63] : '=');
    text.push_back(left > 2 ? kLetters[group & 63] : '=');
  }
  return text;
}

}  // namespace trainyard
