#include "trainer/train/bench/bench_matmul.h"

#include <array>
#include <vector>

#include "common/error.h"
#include "common/process.h"
#include "trainer/base/random.h"
#include "trainer/models/precision/precision.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/train/process/interval.h"
#include "trainer/train/process/use_threads.h"

namespace trainyard {
namespace {

/// Whole numbers of at most 8: exact in bf16, and sums of 65,536 of their products in fp32.
std::vector<float> whole_numbers(size_t count, uint64_t seed) {
  Random random{seed};
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.below(17)) - 8;
  return values;
}

/// The back end's memory with these values in it, stored as dtype.
std::unique_ptr<BackendMemory> put(Backend& backend, const std::vector<float>& values, DType dtype) {
  auto memory = backend.allocate(values.size() * dtype_bytes(dtype));
  if (dtype == DType::f32) {
    backend.from_host(memory->data(), values.data(), memory->bytes());
    return memory;
  }
  std::vector<uint16_t> stored(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    stored[i] = dtype == DType::bf16 ? BFloat16(values[i]).bits : Float16(values[i]).bits;
  }
  backend.from_host(memory->data(), stored.data(), memory->bytes());
  return memory;
}

/// Whether y = x W^T: for each row the sum of y's elements is that of x's times W's column sums, in
/// whole numbers.
bool is_product(const std::vector<float>& y, const std::vector<float>& x, const std::vector<float>& w, size_t size) {
  std::vector<double> columns(size);
  for (size_t i = 0; i < w.size(); ++i) columns[i % size] += w[i];
  for (size_t row = 0; row < y.size() / size; ++row) {
    double got = 0;
    double want = 0;
    for (size_t i = 0; i < size; ++i) {
      got += y[row * size + i];
      want += x[row * size + i] * columns[i];
    }
    if (got != want) return false;
  }
  return true;
}

struct Measured {
  double flops_a_second = 0;
  double ms = 0;
  bool right = true;
};

Measured measure(const BenchMatmulOptions& options, Backend& backend, int rows) {
  const auto size = static_cast<size_t>(options.size);
  const auto mine = static_cast<size_t>(rows);
  const DType stored = storage_of(parse_precision(options.precision));
  const LinearParams params{.batch = rows, .in = options.size, .out = options.size, .input = stored};
  const auto op = backend.make_linear(params);
  const std::vector<float> x = whole_numbers(mine * size, 1);
  const std::vector<float> w = whole_numbers(size * size, 2);
  const auto left = put(backend, x, stored);
  const auto right = put(backend, w, DType::f32);
  const auto bias = put(backend, std::vector<float>(size), DType::f32);
  const auto out = backend.allocate(mine * size * sizeof(float));
  const auto product = [&] {
    op->forward(left->data(), reinterpret_cast<const float*>(right->data()),
                reinterpret_cast<const float*>(bias->data()), out->data());
  };
  product();
  backend.synchronize();
  std::vector<float> y(mine * size);
  backend.to_host(y.data(), out->data(), out->bytes());
  Measured result{.right = is_product(y, x, w, size)};
  int64_t products = 0;
  const Stopwatch clock;
  // Some at a time, so that a device need not wait for the host after each.
  for (; clock.milliseconds() < 1000 * options.seconds; backend.synchronize()) {
    for (int i = 0; i < (backend.host_memory() ? 1 : 8); ++i, ++products) product();
  }
  result.ms = clock.milliseconds() / static_cast<double>(products);
  result.flops_a_second = 2e3 * static_cast<double>(size) * static_cast<double>(size) * rows / result.ms;
  return result;
}

}  // namespace

nlohmann::json bench_matmul(const BenchMatmulOptions& options, Communicator& communicator) {
  use_threads(options.threads);
  const int world = communicator.world();
  if (options.size < world || options.size > 65'536) {
    throw Error(Exit::usage, "--size " + std::to_string(options.size) + " does not fit " + std::to_string(world) +
                                 " ranks. Use at least as many rows as ranks, and at most 65536");
  }
  const auto backend =
      options.device == "cuda" ? open_cuda_backend(own_cuda_device(communicator.local_rank())) : make_cpu_backend();
  prepare_backend(*backend, parse_precision(options.precision));
  const auto first = [&](int rank) { return static_cast<int>(int64_t{options.size} * rank / world); };
  const int rows = first(communicator.rank() + 1) - first(communicator.rank());
  const Measured mine = measure(options, *backend, rows);
  const std::vector<std::string> hosts = communicator.gather(host_name());
  const std::array<double, 3> figures = {mine.flops_a_second, mine.ms, mine.right ? 1.0 : 0.0};
  const std::vector<double> all = communicator.gather(figures);
  nlohmann::json ranks = nlohmann::json::array();
  double total = 0;
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    const double* of = all.data() + rank * figures.size();
    if (of[2] == 0) {
      throw Error(Exit::device, "the product of rank " + std::to_string(rank) + " on " + hosts[rank] +
                                    " is wrong. Run `trainer selftest` there, and do not train on that device");
    }
    total += of[0];
    const int number = static_cast<int>(rank);
    ranks.push_back({{"rank", number},
                     {"host", hosts[rank]},
                     {"rows", first(number + 1) - first(number)},
                     {"tflops", of[0] / 1e12},
                     {"ms", of[1]}});
  }
  return {{"size", options.size},       {"precision", options.precision}, {"device", options.device}, {"world", world},
          {"threads", options.threads}, {"seconds", options.seconds},     {"tflops", total / 1e12},   {"ranks", ranks}};
}

}  // namespace trainyard
