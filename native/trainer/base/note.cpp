#include "trainer/base/note.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>

#include "common/files.h"

namespace trainyard {
namespace {

/// What others can read; lasts to the end of the process. nullptr: the system has no such memory.
RankNote* make_shown() {
  static const Descriptor memory(::memfd_create(kRankNoteName, MFD_CLOEXEC));
  if (!memory || ::ftruncate(memory.get(), sizeof(RankNote)) != 0) return nullptr;
  void* at = ::mmap(nullptr, sizeof(RankNote), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  return at == MAP_FAILED ? nullptr : std::construct_at(static_cast<RankNote*>(at));
}

RankNote*& current() {
  static RankNote unshown;
  static RankNote* note = &unshown;
  return note;
}

uint64_t word(RankWork work, int64_t step) { return note_word(work, static_cast<uint64_t>(step)); }

/// Nobody else writes, and whoever reads looks when nothing has changed for long.
void store(uint64_t work) {
  current()->parts.store(0, std::memory_order_relaxed);
  current()->work.store(work, std::memory_order_relaxed);
}

int64_t noted_step() { return static_cast<int64_t>(step_in(current()->work.load(std::memory_order_relaxed))); }

}  // namespace

void show_note() {
  static RankNote* const memory = make_shown();
  if (memory != nullptr) current() = memory;
  note(RankWork::starts, 0);
}

void note(RankWork work) { store(word(work, noted_step())); }

void note(RankWork work, int64_t step) { store(word(work, step)); }

void note_part(size_t part, size_t parts) {
  current()->parts.store(note_parts(part, parts), std::memory_order_relaxed);
}

Noted::Noted(RankWork work) : Noted(work, noted_step()) {}

Noted::Noted(RankWork work, int64_t step) : before_(current()->work.load(std::memory_order_relaxed)) {
  note(work, step);
}

Noted::~Noted() { store(before_); }

}  // namespace trainyard
