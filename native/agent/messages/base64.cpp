#include "agent/messages/base64.h"

#include <array>
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

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  static const std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  static const std::array<int8_t, 256> kValues = [] {
    std::array<int8_t, 256> values{};
    values.fill(-1);
    for (size_t at = 0; at < kLetters.size(); ++at) {
      values[static_cast<unsigned char>(kLetters[at])] = static_cast<int8_t>(at);
    }
    return values;
  }();
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t at = 0; at < text.size(); at += 4) {
    uint32_t word = 0;
    for (size_t digit = 0; digit < 4; ++digit) {
      const bool pad = at + digit >= text.size() - padding;
      const int value = pad ? 0 : kValues[static_cast<unsigned char>(text[at + digit])];
      if (value < 0) return std::nullopt;
      word = word << 6 | static_cast<uint32_t>(value);
    }
    for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<char>(word >> shift & 0xff));
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace trainyard
