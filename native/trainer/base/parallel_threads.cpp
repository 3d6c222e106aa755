// parallel.h by threads of this loop's own, for ThreadSanitizer, which sees how these wait for each
// other.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>
#include <vector>

#include "trainer/base/parallel.h"

namespace trainyard {
namespace {

int asked_for() {
  const char* words = std::getenv("OMP_NUM_THREADS");
  const int number = words == nullptr ? 0 : std::atoi(words);
  return number > 0 ? number : static_cast<int>(std::max(std::thread::hardware_concurrency(), 1U));
}

/// This process's number of threads, which libgomp keeps in every other build.
std::atomic<int>& pool_size() {
  static std::atomic<int> size{asked_for()};
  return size;
}

}  // namespace

ThreadCount set_threads(int threads) {
  ThreadCount count;
  count.wanted = count.got = std::max(threads, 1);
  pool_size() = count.got;
  return count;
}

int threads() { return pool_size(); }

void parallel_for(size_t count, size_t grain, const std::function<void(size_t, size_t)>& body) {
  if (count == 0) return;
  const size_t worth = std::max<size_t>(count / std::max<size_t>(grain, 1), 1);
  const size_t parts = std::min<size_t>(worth, static_cast<size_t>(threads()));
  std::vector<std::exception_ptr> errors(parts);
  const auto run = [&](size_t part) {
    try {
      body(count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (size_t part = 1; part < parts; ++part) others.emplace_back(run, part);
    run(0);
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace trainyard
