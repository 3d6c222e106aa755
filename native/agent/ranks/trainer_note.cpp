#include "agent/ranks/trainer_note.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "common/files.h"
#include "common/rank_note.h"

namespace trainyard {

namespace {

using Bytes = std::array<char, sizeof(RankNote)>;

uint64_t number_at(const Bytes& bytes, size_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

Descriptor open_note(int pid) {
  const std::string wanted = "/memfd:" + std::string(kRankNoteName) + " (deleted)";
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd", unreadable)) {
    std::error_code closed;
    if (std::filesystem::read_symlink(entry.path(), closed) != wanted) continue;
    return Descriptor(::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC));
  }
  return Descriptor();
}

std::string part_text(uint64_t word) {
  if (part_in(word) == 0) return "";
  return " (part " + std::to_string(part_in(word)) + " of " + std::to_string(parts_in(word)) + ")";
}

std::string text_of(RankWork work, const std::string& step, uint64_t parts) {
  switch (work) {
    case RankWork::none:
      break;
    case RankWork::starts:
      return "starts";
    case RankWork::waits_for_first:
      return "waits for rank 0 at the start";
    case RankWork::takes_images:
      return "waits for images of " + step;
    case RankWork::computes:
      return "computes " + step;
    case RankWork::forward:
      return "computes " + step + " (forward pass)";
    case RankWork::backward:
      return "computes " + step + " (backward pass)";
    case RankWork::sums:
      return "sums gradients of " + step + part_text(parts);
    case RankWork::sums_statistics:
      return "sums statistics of batch norm in " + step;
    case RankWork::updates:
      return "updates the weights in " + step;
    case RankWork::has_ended_step:
      return "has ended " + step;
    case RankWork::collects:
      return "gathers the weights of " + step + " for a checkpoint";
    case RankWork::saves:
      return "waits for a checkpoint to be written, at " + step;
    case RankWork::evaluates:
      return "evaluates " + step;
    case RankWork::gives_figures:
      return "gives its figures of " + step + " to rank 0";
    case RankWork::serves:
      return "serves variables";
  }
  return {};
}

}  // namespace

std::string trainer_note(int pid) {
  const Descriptor memory = open_note(pid);
  Bytes bytes{};
  if (!memory || ::pread(memory.get(), bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  if (number_at(bytes, offsetof(RankNote, mark)) != kRankNoteMark) return {};
  const uint64_t work = number_at(bytes, offsetof(RankNote, work));
  const std::string step = "step " + std::to_string(step_in(work));
  return text_of(work_in(work), step, number_at(bytes, offsetof(RankNote, parts)));
}

}  // namespace trainyard
