// What a rank of a training does just now, in memory that the agent of its node reads where the
// rank stands still (docs/contracts/events.md, What a rank does that stands still). Trainer and
// agent come from one build.
#pragma once
#include <atomic>
#include <cstdint>

namespace trainyard {

enum class RankWork : uint8_t {
  none,
  starts,
  waits_for_first,  ///< at the start, for rank 0
  takes_images,
  computes,  ///< a micro-batch that is not the last one of its step
  forward,
  backward,
  sums,
  sums_statistics,
  updates,
  has_ended_step,
  collects,
  saves,
  evaluates,
  gives_figures,
  serves
};

/// The name of the memory, as /proc/PID/fd shows it: "/memfd:NAME (deleted)".
inline constexpr const char* kRankNoteName = "trainyard-note";
/// Begins the memory; another layout gets another mark.
inline constexpr uint64_t kRankNoteMark = 0x31'65'74'6f'6e'2e'79'74;

struct RankNote {
  uint64_t mark = kRankNoteMark;
  std::atomic<uint64_t> work = 0;   ///< RankWork in the highest byte, the step below
  std::atomic<uint64_t> parts = 0;  ///< of the sums: how many in the upper half, which one below
};
/// Of the word `work`.
inline constexpr unsigned kNoteStepBits = 56;
constexpr uint64_t note_word(RankWork work, uint64_t step) {
  return uint64_t{static_cast<uint8_t>(work)} << kNoteStepBits | (step & ((uint64_t{1} << kNoteStepBits) - 1));
}
constexpr RankWork work_in(uint64_t word) { return static_cast<RankWork>(word >> kNoteStepBits); }
constexpr uint64_t step_in(uint64_t word) { return word & ((uint64_t{1} << kNoteStepBits) - 1); }
/// Of the word `parts`: part `part` (from 1; 0: unknown) of `parts`.
constexpr uint64_t note_parts(uint64_t part, uint64_t parts) { return parts << 32U | part; }
constexpr uint64_t part_in(uint64_t word) { return word & UINT32_MAX; }
constexpr uint64_t parts_in(uint64_t word) { return word >> 32U; }
static_assert(std::atomic<uint64_t>::is_always_lock_free, "other processes read them");

}  // namespace trainyard
