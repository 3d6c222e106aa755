// Loops over this rank's threads, on the same pool that oneDNN uses (libgomp), so the two never
// compete for cores.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trainyard {

/// What became of a wish for threads.
struct ThreadCount {
  int wanted = 1;
  int got = 1;  ///< as many as loops and oneDNN have from now on
  /// Settings of OpenMP, "NAME=value": the one that leaves fewer threads, and those that would have
  /// changed their number while the program runs, which are not followed.
  std::string limit;
  std::vector<std::string> not_followed;

  /// One line for people; nothing where there is nothing to say.
  std::optional<std::string> text() const;
};

/// Sets the number of threads of the calling thread's loops and of oneDNN's (OMP_NUM_THREADS
/// otherwise), at least 1, and looks how many OpenMP really starts. OMP_DYNAMIC and
/// OMP_MAX_ACTIVE_LEVELS are not followed, as the number must stay what it is; OMP_THREAD_LIMIT
/// cannot be overruled, so then there are fewer.
ThreadCount set_threads(int threads);
int threads();

/// Calls body(begin, end) over contiguous, disjoint parts of [0, count), one a thread. The parts
/// depend only on `count` and threads(), so what is computed is the same in every run; where fewer
/// threads are started, each takes several parts. `grain` is the smallest part worth a thread.
void parallel_for(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body);

}  // namespace trainyard
