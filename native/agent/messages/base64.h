// Base64 (RFC 4648, with padding): log bytes travel inside JSON.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

std::string base64(std::string_view bytes);

/// The bytes again; nothing for a text that is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace trainyard
