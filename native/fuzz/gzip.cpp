// Files of gzip: inflated whole, and from places in their midst. The first byte chooses: the rest
// is a file as it stands, or what is in it, compressed here in two members.
#include <fcntl.h>

#include <algorithm>

#include "common/error.h"
#include "fuzz/target.h"
#include "tests/data/tar_support.h"
#include "trainer/data/archive/gzip_bytes.h"
#include "trainer/data/archive/gzip_cursor.h"

namespace trainyard::fuzz {

namespace {

constexpr uint64_t kMostHere = uint64_t{8} << 20;  // inflated; what has more is slow and no different

/// The whole, by one walk. Nothing where the file is damaged or inflates to more than kMostHere.
bool inflated(int fd, std::string& whole, std::vector<GzipPoint>& points) {
  GzipCursor cursor(fd, "file");
  points.push_back(cursor.begin());
  std::vector<char> piece(4096);
  while (!cursor.ended()) {
    const size_t got = cursor.advance(piece.data(), piece.size());
    whole.append(piece.data(), got);
    require(cursor.position() == whole.size(), "the position is that of the inflated bytes");
    if (whole.size() > kMostHere) return false;
    if (cursor.at_block() && points.size() < 8) points.push_back(cursor.point());
  }
  return true;
}

void read(std::string_view file) {
  const Descriptor fd = memory_file(file);
  std::string whole;
  std::vector<GzipPoint> points;
  try {
    if (!inflated(fd.get(), whole, points)) return;
    for (const GzipPoint& point : points) {
      GzipCursor cursor(fd.get(), "file");
      cursor.start(point);
      require(cursor.position() == point.out, "a point is where it says");
      std::string rest(whole.size() - static_cast<size_t>(point.out), '\0');
      size_t filled = 0;
      while (filled < rest.size() && !cursor.ended())
        filled += cursor.advance(rest.data() + filled, rest.size() - filled);
      require(whole.compare(static_cast<size_t>(point.out), std::string::npos, rest) == 0,
              "a point gives the same bytes");
    }
    const GzipBytes bytes(Descriptor(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0)), "file", file.size(), {});
    require(bytes.size() == whole.size(), "both walks end at the same place");
    for (const size_t at : {whole.size() / 2, size_t{0}, whole.size()}) {
      std::string part(100, '\0');
      part.resize(bytes.read(at, part.data(), part.size()));
      require(whole.compare(at, part.size(), part) == 0, "any place can be read");
    }
  } catch (const Error& error) {
    require(error.code() == Exit::data, "a bad file is bad data");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string text = "rose/1.jpg and tulip/2.jpg, tulip/2.jpg and rose/1.jpg";
  return {"G" + gzipped(text), "G" + gzipped(text, 0) + gzipped("more", 9), "G" + gzipped(""), "B" + text};
}

void run(std::string_view input) {
  if (input.empty()) return;
  const std::string rest(input.substr(1));
  if (input.front() == 'G') return read(rest);
  const size_t half = rest.size() / 2;
  read(gzipped(rest.substr(0, half), 6) + gzipped(rest.substr(half), 1));
}

}  // namespace trainyard::fuzz
