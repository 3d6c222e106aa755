// Base64 (RFC 4648, with padding): log bytes travel inside JSON.
#pragma once
#include <string>
#include <string_view>

namespace trainyard {

std::string base64(std::string_view bytes);

}  // namespace trainyard
