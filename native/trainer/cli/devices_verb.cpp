#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "common/cpu_features.h"
#include "trainer/cli/verbs.h"
#include "trainer/ops/cuda_library.h"

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

/// One object a device; where there is none, one object with the reason.
std::vector<nlohmann::ordered_json> cuda() {
  const auto none = [](const std::string& reason) {
    return std::vector<nlohmann::ordered_json>{{{"device", "cuda"}, {"usable", false}, {"reason", reason}}};
  };
  try {
    const auto library = load_cuda_library();
    std::vector<nlohmann::ordered_json> found;
    for (const CudaDevice& device : library->devices()) {
      const std::string capability =
          std::to_string(device.capability_major) + "." + std::to_string(device.capability_minor);
      found.push_back({{"device", "cuda"},
                       {"index", device.index},
                       {"name", device.name},
                       {"uuid", device.uuid},
                       {"memory_total", device.memory_total},
                       {"capability", capability},
                       {"usable", device.usable},
                       {"libraries", library->versions()}});
      if (!device.usable) found.back()["reason"] = "the CUDA library holds no code for " + capability;
    }
    return found.empty() ? none("no GPU is visible (" + library->versions() + ")") : found;
  } catch (const Error& error) {
    return none(error.what());
  }
}

void print(const nlohmann::ordered_json& device) {
  const auto gigabytes = [&] { return static_cast<double>(device["memory_total"].get<uint64_t>()) / 1e9; };
  if (device["device"] == "cpu") {
    std::printf("cpu   %u cores, %.1f GB, %s\n", device["cores"].get<unsigned>(), gigabytes(),
                device["instructions"].get<std::string>().c_str());
  } else if (!device.contains("index")) {
    std::printf("cuda  none: %s\n", device["reason"].get<std::string>().c_str());
  } else {
    std::printf("cuda  %d: %s, %.1f GB, capability %s%s\n", device["index"].get<int>(),
                device["name"].get<std::string>().c_str(), gigabytes(), device["capability"].get<std::string>().c_str(),
                device["usable"].get<bool>() ? "" : " (this build has no code for it)");
  }
}

}  // namespace

Verb add_devices(CLI::App& app) {
  CLI::App* command = app.add_subcommand("devices", "what this trainer can compute on");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "one JSON object a line");
  return {command, [json] {
            std::vector<nlohmann::ordered_json> devices = cuda();
            devices.insert(devices.begin(), cpu());
            for (const auto& device : devices) {
              if (*json) {
                std::printf("%s\n", device.dump().c_str());
              } else {
                print(device);
              }
            }
            return Exit::ok;
          }};
}

}  // namespace trainyard
