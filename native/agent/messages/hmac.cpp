#include "agent/messages/hmac.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>

#include "common/error.h"
#include "common/hash/sha256.h"

namespace trainyard {

namespace {

constexpr size_t kBlock = 64;

int value_of(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (size_t at = 0; at + 1 < hex.size(); at += 2) {
    bytes.push_back(static_cast<char>(value_of(hex[at]) * 16 + value_of(hex[at + 1])));
  }
  return bytes;
}

std::string padded(std::string key, char with) {
  key.resize(kBlock, '\0');
  for (char& letter : key) letter = static_cast<char>(letter ^ with);
  return key;
}

}  // namespace

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
  const std::string used = key.size() > kBlock ? from_hex(sha256_hex(key)) : std::string(key);
  Sha256 inner;
  inner.update(padded(used, 0x36));
  inner.update(message);
  Sha256 outer;
  outer.update(padded(used, 0x5c));
  outer.update(from_hex(inner.finish_hex()));
  return outer.finish_hex();
}

bool same_secret(std::string_view one, std::string_view other) {
  if (one.size() != other.size()) return false;
  unsigned different = 0;
  for (size_t at = 0; at < one.size(); ++at) different |= static_cast<unsigned char>(one[at] ^ other[at]);
  return different == 0;
}

std::string random_hex(size_t bytes) {
  std::string random(bytes, '\0');
  size_t have = 0;
  while (have < bytes) {
    const ssize_t got = ::getrandom(random.data() + have, bytes - have, 0);
    if (got < 0 && errno != EINTR) throw file_error("read", "the kernel's random numbers");
    if (got > 0) have += static_cast<size_t>(got);
  }
  std::string hex;
  for (const char letter : random) {
    const auto byte = static_cast<unsigned char>(letter);
    hex.push_back("0123456789abcdef"[byte >> 4]);
    hex.push_back("0123456789abcdef"[byte & 15]);
  }
  return hex;
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && std::all_of(text.begin(), text.end(), [](char letter) {
           return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f');
         });
}

}  // namespace trainyard
