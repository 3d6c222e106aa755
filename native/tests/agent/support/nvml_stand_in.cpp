// Stands where NVIDIA's libnvidia-ml.so.1 would: no GPU is here. Functions, values and errors are
// those of NVIDIA's NVML reference (release 13) for H100 cards. What they tell is scripted by the
// file named in NVML_STAND_IN, read anew at each call: "gpus N", "hang FUNCTION", "crash FUNCTION",
// "lost INDEX", "process INDEX PID BYTES", "ecc INDEX CORRECTED UNCORRECTED", "reasons INDEX MASK".
#include <nvml.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr unsigned long long kMemory = 81'559ULL << 20;  // bytes of an H100 80GB HBM3 as nvidia-smi tells them

/// The lines of the script that begin with `word`, without it.
std::vector<std::istringstream> lines(const std::string& word) {
  const char* path = std::getenv("NVML_STAND_IN");
  std::ifstream script(path == nullptr ? "" : path);
  std::vector<std::istringstream> found;
  for (std::string line; std::getline(script, line);) {
    std::istringstream words(line);
    std::string first;
    if (words >> first && first == word) found.push_back(std::move(words));
  }
  return found;
}

bool is_scripted(const char* what, const char* function) {
  for (std::istringstream& line : lines(what)) {
    std::string name;
    if (line >> name && name == function) return true;
  }
  return false;
}

/// Every function begins with it. A call hangs for as long as the script says so.
void enter(const char* function) {
  if (is_scripted("crash", function)) std::abort();
  while (is_scripted("hang", function)) ::usleep(20'000);
}

unsigned int count() {
  unsigned int gpus = 0;
  for (std::istringstream& line : lines("gpus")) line >> gpus;
  return gpus;
}

unsigned int index_of(nvmlDevice_t device) {
  return static_cast<unsigned int>(reinterpret_cast<uintptr_t>(device) - 1);
}

bool is_lost(unsigned int index) {
  for (std::istringstream& line : lines("lost")) {
    unsigned int lost = 0;
    if (line >> lost && lost == index) return true;
  }
  return false;
}

/// The state that every call on a device looks at first.
nvmlReturn_t state_of(nvmlDevice_t device, const char* function) {
  enter(function);
  if (device == nullptr || index_of(device) >= count()) return NVML_ERROR_INVALID_ARGUMENT;
  return is_lost(index_of(device)) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t put(const std::string& text, char* out, unsigned int length) {
  if (text.size() >= length) return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

}  // namespace

extern "C" {

nvmlReturn_t nvmlInit_v2() {
  enter("nvmlInit_v2");
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() { return NVML_SUCCESS; }

const char* nvmlErrorString(nvmlReturn_t result) {
  return result == NVML_ERROR_GPU_IS_LOST ? "GPU is lost" : result == NVML_SUCCESS ? "Success" : "Unknown Error";
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int* gpus) {
  enter("nvmlDeviceGetCount_v2");
  *gpus = count();
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t* device) {
  enter("nvmlDeviceGetHandleByIndex_v2");
  if (index >= count()) return NVML_ERROR_INVALID_ARGUMENT;
  *device = reinterpret_cast<nvmlDevice_t>(static_cast<uintptr_t>(index) + 1);
  return is_lost(index) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char* uuid, unsigned int length) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetUUID"); bad != NVML_SUCCESS) return bad;
  return put("GPU-00000000-0000-4000-8000-00000000000" + std::to_string(index_of(device)), uuid, length);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char* name, unsigned int length) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetName"); bad != NVML_SUCCESS) return bad;
  return put("NVIDIA H100 80GB HBM3", name, length);
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t* memory) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetMemoryInfo"); bad != NVML_SUCCESS) return bad;
  *memory = {kMemory, kMemory - (5ULL << 30), 5ULL << 30};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t* memory) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetMemoryInfo_v2"); bad != NVML_SUCCESS) return bad;
  if (memory->version != nvmlMemory_v2) return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
  memory->total = kMemory;
  memory->reserved = 600ULL << 20;
  memory->used = 4ULL << 30;
  memory->free = memory->total - memory->reserved - memory->used;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t* utilization) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetUtilizationRates"); bad != NVML_SUCCESS) return bad;
  *utilization = {90 + index_of(device), 40};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t, unsigned int* celsius) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetTemperature"); bad != NVML_SUCCESS) return bad;
  *celsius = 60 + index_of(device);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int* milliwatts) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetPowerUsage"); bad != NVML_SUCCESS) return bad;
  *milliwatts = 650'500;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int* count_inout,
                                                     nvmlProcessInfo_t* infos) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetComputeRunningProcesses_v3"); bad != NVML_SUCCESS)
    return bad;
  std::vector<nvmlProcessInfo_t> found;
  for (std::istringstream& line : lines("process")) {
    unsigned int index = 0;
    nvmlProcessInfo_t one{};
    if (line >> index >> one.pid >> one.usedGpuMemory && index == index_of(device)) found.push_back(one);
  }
  const bool fits = found.size() <= *count_inout;
  *count_inout = static_cast<unsigned int>(found.size());
  if (!fits) return NVML_ERROR_INSUFFICIENT_SIZE;
  if (!found.empty()) std::memcpy(infos, found.data(), found.size() * sizeof found[0]);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
                                         unsigned long long* errors) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetTotalEccErrors"); bad != NVML_SUCCESS) return bad;
  if (counter != NVML_VOLATILE_ECC) return NVML_ERROR_INVALID_ARGUMENT;
  for (std::istringstream& line : lines("ecc")) {
    unsigned int index = 0;
    unsigned long long corrected = 0, uncorrected = 0;
    if (!(line >> index >> corrected >> uncorrected) || index != index_of(device)) continue;
    *errors = type == NVML_MEMORY_ERROR_TYPE_CORRECTED ? corrected : uncorrected;
    return NVML_SUCCESS;
  }
  return NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long* reasons) {
  if (const nvmlReturn_t bad = state_of(device, "nvmlDeviceGetCurrentClocksEventReasons"); bad != NVML_SUCCESS)
    return bad;
  *reasons = nvmlClocksEventReasonNone;
  for (std::istringstream& line : lines("reasons")) {
    unsigned int index = 0;
    unsigned long long mask = 0;
    if (line >> index >> mask && index == index_of(device)) *reasons = mask;
  }
  return NVML_SUCCESS;
}

}  // extern "C"
