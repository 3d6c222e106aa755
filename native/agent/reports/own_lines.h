// metrics.jsonl as an own program writes it: a JSON object a line, numbers by their names.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/reports/event_scalars.h"

namespace trainyard {

/// The figures of one line.
struct OwnLine {
  std::string writer;  ///< "rank 3" where the line names a rank
  std::vector<Scalar> scalars;
};

/// Reads a line. `now` (seconds since the epoch) is the time of a line that has none. NaN and
/// Infinity, as Python writes them, are no numbers. Throws FieldError that says what is wrong.
OwnLine read_own_line(const std::string& line, double now);

/// The lines of that file as they come.
class OwnLines {
 public:
  /// Goes on from a byte where a line begins.
  explicit OwnLines(std::string path, uint64_t offset = 0) : path_(std::move(path)), offset_(offset) {}

  struct Read {
    std::vector<OwnLine> lines;
    uint64_t wrong = 0;       ///< lines that were passed over
    std::string first_wrong;  ///< why the first of them was
    bool more = false;
  };
  /// The next whole lines, about 1 MiB of them.
  Read read(double now);
  uint64_t offset() const { return offset_; }

 private:
  std::string path_;
  uint64_t offset_;
};

}  // namespace trainyard
