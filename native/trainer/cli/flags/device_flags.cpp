#include "trainer/cli/flags/device_flags.h"

#include <vector>

#include "trainer/cli/flags/numbers.h"
#include "trainer/models/precision/precision.h"
#include "trainer/ops/cuda_library.h"
#include "trainer/ops/plans/timed_plans.h"

namespace trainyard {

void add_device_flags(CLI::App& command, std::string& device, std::string& precision) {
  command.add_option("--device", device, "cpu or cuda")->check(CLI::IsMember({"cpu", "cuda"}))->capture_default_str();
  const auto names = precision_names();
  command
      .add_option("--precision", precision,
                  "fp32, bf16 for activations and products (on the CPU with AVX-512), or on GPUs tf32 and fp16, "
                  "whose loss is scaled. Weights stay fp32")
      ->check(CLI::IsMember(std::vector<std::string>(names.begin(), names.end())))
      ->capture_default_str();
}

void add_graphs_flag(CLI::App& command, bool& no_cuda_graphs) {
  command.add_flag("--no-cuda-graphs", no_cuda_graphs,
                   "on a GPU: launches every op of a step by itself, instead of a few CUDA graphs in which all of them "
                   "are recorded");
}

void add_tune_flag(CLI::App& command, std::string& tune) {
  command
      .add_option("--tune", tune,
                  "on a GPU: how the kernel of each convolution is chosen. none: by cuDNN's heuristics, and by a "
                  "fixed table for Trainyard's own kernels; fast (the default): the fastest of the best few, measured "
                  "at the start; full: of all of them. What was chosen is kept for the next start")
      ->check(CLI::IsMember(tune_names()));
}

void add_jpeg_decoder_flag(CLI::App& command, std::string& decoder) {
  command
      .add_option(
          "--jpeg-decoder", decoder,
          "cpu, or with --device cuda nvjpeg: JPEGs are decoded, cropped and resized on the GPU, but for unusual "
          "ones. Not with --cache ram, which keeps what the host decodes")
      ->check(CLI::IsMember({"cpu", "nvjpeg"}))
      ->capture_default_str();
}

void add_loader_threads_flag(CLI::App& command, int& threads) {
  command
      .add_option(
          "--loader-threads", threads,
          "decoding threads of each rank (0: one beside a CPU that computes, beside a GPU all cores of the rank)")
      ->transform(threads_or_own_range())
      ->capture_default_str();
}

void require_device(const std::string& device, const std::string& precision) {
  const Precision wanted = parse_precision(precision);
  require_precision(wanted, device);
  if (device != "cuda") return;
  const CudaDevice gpu = require_cuda_device(*load_cuda_library(), 0);
  require_gpu_precision(wanted, gpu.name, gpu.capability_major);
}

}  // namespace trainyard
