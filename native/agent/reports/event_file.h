// One TensorBoard event file that grows while it is read.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/reports/event_scalars.h"

namespace trainyard {

class EventFile {
 public:
  /// Goes on from a byte where a record begins.
  explicit EventFile(std::string path, uint64_t offset = 0) : path_(std::move(path)), offset_(offset) {}

  struct Read {
    std::vector<Scalar> scalars;
    bool more = false;  ///< there are more whole records
  };
  /// The figures of the next whole records, about 1 MiB of them. A record that is not whole yet
  /// waits, as does a file that cannot be opened. Records of more than 1 MiB are passed over: a
  /// scalar takes 100 bytes.
  Read read();

  /// What was read from there on was not kept anywhere, and is read again.
  void go_back(uint64_t offset) {
    offset_ = offset;
    damage_.reset();
  }

  /// Bytes of whole records that were read.
  uint64_t offset() const { return offset_; }
  /// Why nothing more of the file is read: a record of it is damaged.
  const std::optional<std::string>& damage() const { return damage_; }

 private:
  std::string path_;
  uint64_t offset_;
  EventScalars scalars_;
  std::optional<std::string> damage_;
};

}  // namespace trainyard
