#include "agent/figures/gpu.h"

#include <dlfcn.h>
#include <nvml.h>

#include <array>
#include <map>
#include <vector>

#include "agent/figures/gpu_process.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {
constexpr double kRetrySeconds = 60;

/// NVML's code for "this process's memory cannot be told" (NVML_VALUE_NOT_AVAILABLE as an unsigned
/// 64-bit value).
constexpr unsigned long long kNotTold = ~0ULL;

struct Reason {
  unsigned long long bit;
  const char* word;
};
/// Why a GPU's clocks are lower than its load asks for. Idle and clocks that a person set are no
/// trouble.
constexpr std::array kReasons{
    Reason{nvmlClocksEventReasonSwPowerCap, "power_cap"},
    Reason{nvmlClocksThrottleReasonHwSlowdown, "hardware"},
    Reason{nvmlClocksEventReasonSyncBoost, "sync_boost"},
    Reason{nvmlClocksEventReasonSwThermalSlowdown, "heat"},
    Reason{nvmlClocksThrottleReasonHwThermalSlowdown, "hardware_heat"},
    Reason{nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "power_brake"},
};
}  // namespace

/// The loaded library and the functions used of it. A driver without one of the newer functions
/// still works.
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

  Json sample() {
    Json gpus = Json::array();
    unsigned int count = 0;
    if (count_(&count) != NVML_SUCCESS) return gpus;
    for (unsigned int index = 0; index < count; ++index) {
      gpus.push_back(sample_one(index));
    }
    return gpus;
  }

 private:
  struct Name {
    std::string uuid, name;
  };

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
    get(ecc_, "nvmlDeviceGetTotalEccErrors");
    if (!get(reasons_, "nvmlDeviceGetCurrentClocksEventReasons")) {
      get(reasons_, "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before driver 535
    }
    get(words_, "nvmlErrorString");
    ready_ = found && init_() == NVML_SUCCESS;
  }

  template <typename Function>
  bool get(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    return function != nullptr;
  }

  Json sample_one(unsigned int index) {
    nvmlDevice_t device = nullptr;
    problem_ = NVML_SUCCESS;
    const bool there = told(handle_(index, &device));
    Json gpu;
    gpu["index"] = index;
    const Name& name = name_of(index, there ? device : nullptr);
    gpu["uuid"] = name.uuid;
    gpu["name"] = name.name;
    gpu["memory_used"] = 0;
    gpu["memory_total"] = 0;
    for (const char* figure : {"utilization", "temperature", "power_watts"}) gpu[figure] = nullptr;
    gpu["processes"] = Json::array();
    gpu["ecc"] = nullptr;
    gpu["slowed_by"] = Json::array();
    if (there) add_figures(gpu, device);
    gpu["problem"] = problem_ == NVML_SUCCESS ? Json(nullptr) : Json(words_of(problem_));
    return gpu;
  }

  void add_figures(Json& gpu, nvmlDevice_t device) {
    add_memory(gpu, device);
    nvmlUtilization_t busy{};
    if (utilization_ != nullptr && told(utilization_(device, &busy))) gpu["utilization"] = busy.gpu;
    unsigned int figure = 0;
    if (temperature_ != nullptr && told(temperature_(device, NVML_TEMPERATURE_GPU, &figure)))
      gpu["temperature"] = figure;
    if (power_ != nullptr && told(power_(device, &figure))) gpu["power_watts"] = figure / 1000.0;
    gpu["processes"] = processes(device);
    gpu["ecc"] = ecc(device);
    gpu["slowed_by"] = slowed_by(device);
  }

  /// Whether a call succeeded. A GPU that fell off the bus is noted; what it only does not support
  /// is no problem.
  bool told(nvmlReturn_t code) {
    if (code == NVML_ERROR_GPU_IS_LOST || code == NVML_ERROR_UNKNOWN) problem_ = code;
    return code == NVML_SUCCESS;
  }

  std::string words_of(nvmlReturn_t code) const {
    const char* words = words_ == nullptr ? nullptr : words_(code);
    return words == nullptr ? "NVML error " + std::to_string(code) : words;
  }

  /// A GPU that is lost does not tell its name any more, and still is the one it was.
  const Name& name_of(unsigned int index, nvmlDevice_t device) {
    std::array<char, 96> text{};
    Name& known = names_[index];
    if (device == nullptr) return known;
    if (told(uuid_(device, text.data(), text.size()))) known.uuid = text.data();
    if (told(name_(device, text.data(), text.size()))) known.name = text.data();
    return known;
  }

  void add_memory(Json& gpu, nvmlDevice_t device) {
    nvmlMemory_v2_t exact{};
    exact.version = nvmlMemory_v2;
    nvmlMemory_t plain{};
    if (memory2_ != nullptr && told(memory2_(device, &exact))) {  // leaves the driver's own share out
      gpu["memory_used"] = exact.used;
      gpu["memory_total"] = exact.total;
    } else if (told(memory_(device, &plain))) {
      gpu["memory_used"] = plain.used;
      gpu["memory_total"] = plain.total;
    }
  }

  Json processes(nvmlDevice_t device) {
    Json list = Json::array();
    if (processes_ == nullptr) return list;
    std::vector<nvmlProcessInfo_t> found(64);
    unsigned int count = static_cast<unsigned int>(found.size());
    nvmlReturn_t code = processes_(device, &count, found.data());
    if (code == NVML_ERROR_INSUFFICIENT_SIZE) {  // `count` now says how many there are; leave space for new ones
      found.resize(2 * static_cast<size_t>(count));
      count = static_cast<unsigned int>(found.size());
      code = processes_(device, &count, found.data());
    }
    if (!told(code)) return list;
    found.resize(std::min<size_t>(count, found.size()));
    for (const nvmlProcessInfo_t& one : found) {
      const bool told_memory = one.usedGpuMemory != kNotTold;
      Json process = gpu_process(static_cast<int>(one.pid));
      process["memory_used"] = told_memory ? Json(one.usedGpuMemory) : Json(nullptr);
      list.push_back(std::move(process));
    }
    return list;
  }

  /// Since the driver was loaded; null where the GPU has no ECC memory or it is switched off.
  Json ecc(nvmlDevice_t device) {
    unsigned long long corrected = 0, uncorrected = 0;
    if (ecc_ == nullptr || !told(ecc_(device, NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, &corrected)) ||
        !told(ecc_(device, NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &uncorrected))) {
      return nullptr;
    }
    return {{"corrected", corrected}, {"uncorrected", uncorrected}};
  }

  Json slowed_by(nvmlDevice_t device) {
    Json words = Json::array();
    unsigned long long reasons = 0;
    if (reasons_ == nullptr || !told(reasons_(device, &reasons))) return words;
    for (const Reason& reason : kReasons) {
      if ((reasons & reason.bit) != 0) words.push_back(reason.word);
    }
    return words;
  }

  void* library_;
  bool ready_ = false;
  nvmlReturn_t problem_ = NVML_SUCCESS;  ///< of the GPU that is being looked at
  std::map<unsigned int, Name> names_;   ///< last told, by index
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
  decltype(&nvmlDeviceGetTotalEccErrors) ecc_ = nullptr;
  decltype(&nvmlDeviceGetCurrentClocksEventReasons) reasons_ = nullptr;
  decltype(&nvmlErrorString) words_ = nullptr;
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
