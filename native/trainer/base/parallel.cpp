#include "trainer/base/parallel.h"

#include <algorithm>
#include <exception>
#include <vector>

// libgomp's own interface, as GCC's generated code calls it: the compiler used here ships no OpenMP runtime.
extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_max_threads();
void omp_set_num_threads(int threads);
}

namespace trainyard {

void set_threads(int threads) { omp_set_num_threads(std::max(threads, 1)); }

int threads() { return omp_get_max_threads(); }

namespace {

struct Loop {
  size_t count;
  size_t parts;
  const std::function<void(size_t, size_t)>* body;
  std::vector<std::exception_ptr> errors;

  static void run(void* self) {
    auto& loop = *static_cast<Loop*>(self);
    const auto part = static_cast<size_t>(omp_get_thread_num());
    if (part >= loop.parts) return;
    try {
      (*loop.body)(loop.count* part / loop.parts, loop.count * (part + 1) / loop.parts);
    } catch (...) {
      loop.errors[part] = std::current_exception();
    }
  }
};

}  // namespace

void parallel_for(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) {
  if (count == 0) return;
  const size_t worth = std::max<size_t>(count / std::max<size_t>(grain, 1), 1);
  const size_t parts = std::min<size_t>(worth, static_cast<size_t>(threads()));
  if (parts == 1) {
    body(0, count);
    return;
  }
  Loop loop{count, parts, &body, std::vector<std::exception_ptr>(parts)};
  GOMP_parallel(&Loop::run, &loop, static_cast<unsigned>(parts), 0);
  for (const auto& error : loop.errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace trainyard
