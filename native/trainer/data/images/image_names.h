// Which files of a folder or an archive are taken for images.
#pragma once
#include <cctype>
#include <string>
#include <string_view>

namespace trainyard {

/// .jpg, .jpeg or .png at the end, in any case.
inline bool is_image_name(std::string_view name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return false;
  std::string extension(name.substr(dot + 1));
  for (char& c : extension) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension == "jpg" || extension == "jpeg" || extension == "png";
}

}  // namespace trainyard
