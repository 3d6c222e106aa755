#include "trainer/base/parallel.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

// libgomp's own interface, as GCC's generated code calls it: the compiler used here ships no OpenMP
// runtime.
extern "C" {
void GOMP_parallel(void (*function)(void*), void* data, unsigned threads, unsigned flags);
int omp_get_thread_num();
int omp_get_num_threads();
int omp_get_max_threads();
void omp_set_num_threads(int threads);
int omp_get_dynamic();
void omp_set_dynamic(int dynamic);
int omp_get_max_active_levels();
void omp_set_max_active_levels(int levels);
}

namespace trainyard {

namespace {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(name) + "=" + value;
}

/// How many threads OpenMP starts when it is asked for `wanted`.
int team_of(int wanted) {
  int size = 1;
  const auto look = [](void* out) {
    if (omp_get_thread_num() == 0) *static_cast<int*>(out) = omp_get_num_threads();
  };
  GOMP_parallel(look, &size, static_cast<unsigned>(wanted), 0);
  return size;
}

}  // namespace

ThreadCount set_threads(int threads) {
  ThreadCount count;
  count.wanted = count.got = std::max(threads, 1);
  if (count.wanted > 1) {
    if (omp_get_dynamic() != 0) {
      omp_set_dynamic(0);
      count.not_followed.push_back(setting("OMP_DYNAMIC"));
    }
    if (omp_get_max_active_levels() < 1) {
      omp_set_max_active_levels(1);
      count.not_followed.push_back(setting("OMP_MAX_ACTIVE_LEVELS"));
    }
    count.got = team_of(count.wanted);
    if (count.got < count.wanted) count.limit = setting("OMP_THREAD_LIMIT");
  }
  omp_set_num_threads(count.got);
  return count;
}

int threads() { return omp_get_max_threads(); }

namespace {

struct Loop {
  size_t count;
  size_t parts;
  const std::function<void(size_t, size_t)>* body;
  std::vector<std::exception_ptr> errors;

  static void run(void* self) {
    auto& loop = *static_cast<Loop*>(self);
    // OpenMP may start fewer threads than it was asked for.
    const auto team = static_cast<size_t>(omp_get_num_threads());
    for (auto part = static_cast<size_t>(omp_get_thread_num()); part < loop.parts; part += team) {
      try {
        (*loop.body)(loop.count* part / loop.parts, loop.count * (part + 1) / loop.parts);
      } catch (...) {
        loop.errors[part] = std::current_exception();
      }
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
