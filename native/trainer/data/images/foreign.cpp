#include "trainer/data/images/foreign.h"

#include <cstddef>
#include <string>

#include "trainer/data/images/image.h"

namespace trainyard {

namespace {

struct Mark {
  size_t at;
  std::string_view bytes;
  const char* what;
};

/// As file(1) tells them.
constexpr Mark kMarks[] = {
    {0, "GIF8", "a GIF"},
    {8, "WEBP", "a WebP"},
    {0, "BM", "a BMP"},
    {0, std::string_view("II*\0", 4), "a TIFF"},
    {0, std::string_view("MM\0*", 4), "a TIFF"},
    {4, "ftypavif", "an AVIF"},
    {4, "ftyphei", "a HEIC"},
    {4, "ftypmif1", "a HEIC"},
    {0, "<!DOCTYPE html", "an HTML"},
    {0, "<!doctype html", "an HTML"},
    {0, "<html", "an HTML"},
};

}  // namespace

void refuse_foreign(std::string_view file) {
  for (const Mark& mark : kMarks) {
    if (file.size() < mark.at || !file.substr(mark.at).starts_with(mark.bytes)) continue;
    throw BadImage(std::string("it is ") + mark.what + " file, and only JPEG and PNG are read");
  }
}

}  // namespace trainyard
