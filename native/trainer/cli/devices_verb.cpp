#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "trainer/base/cpu_features.h"
#include "trainer/cli/verbs.h"

namespace trainyard {
namespace {

std::string instruction_set() {
  const CpuFeatures features = cpu_features();
  if (features.avx512) return "avx512";
  if (features.avx2) return "avx2";
  return "sse2";
}

nlohmann::ordered_json cpu() {
  const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(::sysconf(_SC_PAGE_SIZE));
  return {{"device", "cpu"},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_total", bytes},
          {"instructions", instruction_set()},
          {"usable", instruction_set() != "sse2"}};
}

}  // namespace

Verb add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand("devices", "what this trainer can compute on");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object a line");
  return {command, [json] {
            const auto device = cpu();
            if (*json) {
              std::printf("%s\n", device.dump().c_str());
              return Exit::ok;
            }
            std::printf("cpu   %u cores, %.1f GB, %s\n", device["cores"].get<unsigned>(),
                        static_cast<double>(device["memory_total"].get<uint64_t>()) / 1e9,
                        device["instructions"].get<std::string>().c_str());
            std::printf("cuda  none: this build has no CUDA back end (libtrainer_cuda.so)\n");
            return Exit::ok;
          }};
}

}  // namespace trainyard
