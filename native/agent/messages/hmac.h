// HMAC-SHA256 (RFC 2104) and random keys, for what the nodes of a run say to one another.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard {

/// 64 lower-case hexadecimal digits.
std::string hmac_sha256_hex(std::string_view key, std::string_view message);

/// Compares in a time that does not tell where they differ.
bool same_secret(std::string_view one, std::string_view other);

/// `bytes` random bytes of the kernel as hexadecimal digits. Throws Error.
std::string random_hex(size_t bytes);

/// Whether it is `digits` lower-case hexadecimal digits.
bool is_hex(std::string_view text, size_t digits);

}  // namespace trainyard
