// A rank's note of what it does (common/rank_note.h): a store into memory, with no system call. All
// calls are the main thread's.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/rank_note.h"

namespace trainyard {

/// From now on the note can be read by others; it says that the rank starts. Where the system has
/// no such memory nobody can read it.
void show_note();

/// In the step that was noted last.
void note(RankWork work);
void note(RankWork work, int64_t step);
/// Of what is summed, part `part` (from 1) is waited for.
void note_part(size_t part, size_t parts);

/// Notes something else for as long as it lives.
class Noted {
 public:
  explicit Noted(RankWork work);
  Noted(RankWork work, int64_t step);
  ~Noted();
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;

 private:
  uint64_t before_;
};

}  // namespace trainyard
