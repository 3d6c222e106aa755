#include "tar_support.h"

#include <zlib.h>

#include <cstdio>
#include <stdexcept>

namespace trainyard {

namespace {
constexpr size_t kBlock = 512;
}

void mend_checksum(std::string& tar, size_t header) {
  tar.replace(header + 148, 8, 8, ' ');
  unsigned sum = 0;
  for (size_t i = 0; i < kBlock; ++i) sum += static_cast<unsigned char>(tar[header + i]);
  char text[16];
  std::snprintf(text, sizeof text, "%06o", sum);
  tar.replace(header + 148, 8, std::string(text) + std::string("\0 ", 2));
}

std::string tar_entry(const std::string& path, const std::string& data, char type) {
  std::string entry(kBlock, '\0');
  char size[16];
  std::snprintf(size, sizeof size, "%011zo", data.size());
  entry.replace(0, std::min<size_t>(path.size(), 100), path.substr(0, 100));
  entry.replace(100, 7, "0000644");
  entry.replace(124, 11, size);
  entry[156] = type;
  entry.replace(257, 8,
                std::string("ustar\0"
                            "00",
                            8));
  mend_checksum(entry, 0);
  entry += data;
  entry.resize((entry.size() + kBlock - 1) / kBlock * kBlock, '\0');
  return entry;
}

std::string tar_end() { return std::string(2 * kBlock, '\0'); }

std::string tar_of(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string tar;
  for (const auto& [path, data] : files) tar += tar_entry(path, data);
  return tar + tar_end();
}

std::string gzipped(const std::string& bytes, int level) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib");
  std::string out(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("zlib");
  return out;
}

}  // namespace trainyard
