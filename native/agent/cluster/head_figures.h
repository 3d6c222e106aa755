// The head's side of what an own program reports on another node: its lines become lines of the
// head's figures.jsonl.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"
#include "common/kept_lines.h"

namespace trainyard {

class HeadFigures {
 public:
  HeadFigures(const RunFolder& folder, const std::string& host);

  /// `of_the_run`: the node has rank 0, whose figures are the run's. Those of other nodes get
  /// "node gpu2" as their writer.
  void set_part(bool of_the_run) { of_the_run_ = of_the_run; }
  /// Lines that are no figures are passed over. Throws FieldError where the bytes do not follow those
  /// that are here.
  void take(const Json& message);
  /// The node begins with this byte, unless bytes of it are here.
  void begin_at(uint64_t offset) { copied_ = copied_.value_or(offset); }
  /// The same event with the node's name before that of the file.
  Json named(const Json& fields) const;
  /// How many bytes of the node's figures are here; null before it was ever here.
  Json copied() const { return copied_ ? Json(*copied_) : Json(nullptr); }
  /// Tries again to write what a full disk did not take.
  void flush() { lines_.flush(); }

 private:
  std::string line_of(const std::string& text) const;

  const std::string host_;
  bool of_the_run_ = false;
  std::optional<uint64_t> copied_;
  KeptLines lines_;
};

}  // namespace trainyard
