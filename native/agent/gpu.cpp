#include "agent/gpu.h"

#include <dlfcn.h>
#include <nvml.h>

#include <array>
#include <vector>

#include "agent/kill.h"

namespace trainyard {

namespace {
constexpr double kRetrySeconds = 60;

/// NVML's code for "this process's memory cannot be told" (NVML_VALUE_NOT_AVAILABLE as an unsigned 64-bit value).
constexpr unsigned long long kNotTold = ~0ULL;
}  // namespace

/// The loaded library and the functions used of it. A driver without one of the newer functions still works.
class GpuSampler::Nvml {
 public:
  static std::unique_ptr<Nvml> load() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    std::unique_ptr<Nvml> nvml(new Nvml(library));
    return nvml->ready_ ? std::move(nvml) : nullptr;
  }

  ~Nvml() {
    if (ready_) shutdown_();
    ::dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  Json sample() const {
    Json gpus = Json::array();
    unsigned int count = 0;
    if (count_(&count) != NVML_SUCCESS) return gpus;
    for (unsigned int index = 0; index < count; ++index) {
      nvmlDevice_t device = nullptr;
      if (handle_(index, &device) == NVML_SUCCESS) gpus.push_back(sample_one(index, device));
    }
    return gpus;
  }

 private:
  explicit Nvml(void* library) : library_(library) {
    const bool found = get(init_, "nvmlInit_v2") && get(shutdown_, "nvmlShutdown") &&
                       get(count_, "nvmlDeviceGetCount_v2") && get(handle_, "nvmlDeviceGetHandleByIndex_v2") &&
                       get(uuid_, "nvmlDeviceGetUUID") && get(name_, "nvmlDeviceGetName") &&
                       get(memory_, "nvmlDeviceGetMemoryInfo");
    get(memory2_, "nvmlDeviceGetMemoryInfo_v2");
    get(utilization_, "nvmlDeviceGetUtilizationRates");
    get(temperature_, "nvmlDeviceGetTemperature");
    get(power_, "nvmlDeviceGetPowerUsage");
    get(processes_, "nvmlDeviceGetComputeRunningProcesses_v3");
    ready_ = found && init_() == NVML_SUCCESS;
  }

  template <typename Function>
  bool get(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr;
  }

  Json sample_one(unsigned int index, nvmlDevice_t device) const {
    std::array<char, 96> text{};
    Json gpu;
    gpu["index"] = index;
    gpu["uuid"] = uuid_(device, text.data(), text.size()) == NVML_SUCCESS ? text.data() : "";
    gpu["name"] = name_(device, text.data(), text.size()) == NVML_SUCCESS ? text.data() : "";
    add_memory(gpu, device);

    nvmlUtilization_t busy{};
    const bool busy_told = utilization_ != nullptr && utilization_(device, &busy) == NVML_SUCCESS;
    gpu["utilization"] = busy_told ? Json(busy.gpu) : Json(nullptr);
    unsigned int figure = 0;
    const bool heat_told =
        temperature_ != nullptr && temperature_(device, NVML_TEMPERATURE_GPU, &figure) == NVML_SUCCESS;
    gpu["temperature"] = heat_told ? Json(figure) : Json(nullptr);
    const bool power_told = power_ != nullptr && power_(device, &figure) == NVML_SUCCESS;
    gpu["power_watts"] = power_told ? Json(figure / 1000.0) : Json(nullptr);
    gpu["processes"] = processes(device);
    return gpu;
  }

  void add_memory(Json& gpu, nvmlDevice_t device) const {
    nvmlMemory_v2_t exact{};
    exact.version = nvmlMemory_v2;
    nvmlMemory_t plain{};
    gpu["memory_used"] = 0;
    gpu["memory_total"] = 0;
    if (memory2_ != nullptr && memory2_(device, &exact) == NVML_SUCCESS) {  // leaves the driver's own share out
      gpu["memory_used"] = exact.used;
      gpu["memory_total"] = exact.total;
    } else if (memory_(device, &plain) == NVML_SUCCESS) {
      gpu["memory_used"] = plain.used;
      gpu["memory_total"] = plain.total;
    }
  }

  Json processes(nvmlDevice_t device) const {
    Json list = Json::array();
    if (processes_ == nullptr) return list;
    std::vector<nvmlProcessInfo_t> found(64);
    unsigned int count = static_cast<unsigned int>(found.size());
    if (processes_(device, &count, found.data()) != NVML_SUCCESS) return list;
    found.resize(std::min<size_t>(count, found.size()));
    for (const nvmlProcessInfo_t& one : found) {
      const bool told = one.usedGpuMemory != kNotTold;
      list.push_back({{"pid", one.pid}, {"memory_used", told ? Json(one.usedGpuMemory) : Json(nullptr)}});
    }
    return list;
  }

  void* library_;
  bool ready_ = false;
  decltype(&nvmlInit_v2) init_ = nullptr;
  decltype(&nvmlShutdown) shutdown_ = nullptr;
  decltype(&nvmlDeviceGetCount_v2) count_ = nullptr;
  decltype(&nvmlDeviceGetHandleByIndex_v2) handle_ = nullptr;
  decltype(&nvmlDeviceGetUUID) uuid_ = nullptr;
  decltype(&nvmlDeviceGetName) name_ = nullptr;
  decltype(&nvmlDeviceGetMemoryInfo) memory_ = nullptr;
  decltype(&nvmlDeviceGetMemoryInfo_v2) memory2_ = nullptr;
  decltype(&nvmlDeviceGetUtilizationRates) utilization_ = nullptr;
  decltype(&nvmlDeviceGetTemperature) temperature_ = nullptr;
  decltype(&nvmlDeviceGetPowerUsage) power_ = nullptr;
  decltype(&nvmlDeviceGetComputeRunningProcesses_v3) processes_ = nullptr;
};

GpuSampler::GpuSampler() = default;
GpuSampler::~GpuSampler() = default;

Json GpuSampler::sample() {
  if (!nvml_ && monotonic_seconds() >= next_try_) {
    nvml_ = Nvml::load();
    next_try_ = monotonic_seconds() + kRetrySeconds;
  }
  return nvml_ ? nvml_->sample() : Json::array();
}

}  // namespace trainyard
