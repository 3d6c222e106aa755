// Archives for the tests, made by hand as the format's text says.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

/// One ustar header with a right checksum and `data` behind it, filled up to whole blocks.
std::string tar_entry(const std::string& path, const std::string& data, char type = '0');

/// The end mark.
std::string tar_end();

/// Entries one after the other, with the end mark.
std::string tar_of(const std::vector<std::pair<std::string, std::string>>& files);

/// Puts the checksum right after a header was changed.
void mend_checksum(std::string& tar, size_t header);

/// One gzip member at a level of zlib.
std::string gzipped(const std::string& bytes, int level = 6);

}  // namespace trainyard
