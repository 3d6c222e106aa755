#include "trainer/tfevents/record_file.h"

#include <unistd.h>

#include <cerrno>

#include "common/error.h"
#include "common/record_frame.h"

namespace trainyard {

namespace {

constexpr size_t flush_at = size_t{1} << 18;
constexpr size_t most_kept = size_t{16} << 20;

}  // namespace

void RecordFile::append(std::string_view data) {
  if (kept_.size() >= most_kept) flush();  // throws, and the record is not kept, while the disk takes nothing
  kept_ += framed_record(data);
  if (kept_.size() >= flush_at) flush();
}

void RecordFile::flush() {
  if (kept_.empty()) return;
  try {
    write_all(fd_.get(), kept_, path_);
  } catch (const Error&) {
    const int error = errno;
    if (::ftruncate(fd_.get(), whole_) != 0) errno = error;  // then what is cut off is written over
    ::lseek(fd_.get(), whole_, SEEK_SET);
    throw;
  }
  whole_ += static_cast<off_t>(kept_.size());
  kept_.clear();
}

}  // namespace trainyard
