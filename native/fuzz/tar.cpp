// Archives of tar. The first byte chooses: the rest is a tar as it stands, the records of a pax
// header, or a long name of GNU's, framed here with a right checksum, as mutations would hardly
// ever meet one.
#include "common/error.h"
#include "fuzz/target.h"
#include "tests/data/tar_support.h"
#include "trainer/data/archive/tar_reader.h"

namespace trainyard::fuzz {

namespace {

class Memory : public ArchiveBytes {
 public:
  explicit Memory(std::string_view bytes) : bytes_(bytes) {}
  uint64_t size() const override { return bytes_.size(); }
  size_t read(uint64_t offset, char* out, size_t count) const override {
    require(offset <= bytes_.size(), "nothing behind the end is read");
    return bytes_.substr(static_cast<size_t>(offset)).copy(out, count);
  }

 private:
  std::string_view bytes_;
};

void read(std::string_view tar) {
  const Memory bytes(tar);
  TarReader reader(bytes, "tar", 0, tar.size());
  uint64_t end = 0;
  try {
    while (const auto entry = reader.next()) {
      require(entry->offset > end, "entries do not overlap, and each has a header");
      require(entry->size <= tar.size() && entry->offset <= tar.size() - entry->size, "an entry lies in its archive");
      end = entry->offset + entry->size;
    }
  } catch (const Error& error) {
    require(error.code() == Exit::data, "a bad archive is bad data");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string pax = "30 path=flowers/rose/0001.jpg\n10 size=4\n";
  return {"T" + tar_of({{"rose/1.jpg", "JPEG"}, {"tulip/2.png", ""}}),
          "T" + tar_entry("pax", pax, 'x') + tar_entry("short", "JPEG") + tar_end(),
          "T" + tar_entry("link", "", '2') + tar_entry("folder/", "", '5') + tar_end(), "P" + pax,
          "L" + std::string(300, 'n')};
}

void run(std::string_view input) {
  if (input.empty()) return;
  const std::string rest(input.substr(1));
  if (input.front() == 'T') return read(rest);
  read(tar_entry("about", rest, input.front() == 'P' ? 'x' : 'L') + tar_entry("file", "JPEG") + tar_end());
}

}  // namespace trainyard::fuzz
