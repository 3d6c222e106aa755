#include "proof/kernel_times.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>
#include <type_traits>
#include <utility>

#include "common/error.h"

namespace trainyard::proof {
namespace {

// Of cupti_activity.h and cupti_result.h, CUDA 13. Records only grow at their end.
constexpr int kSuccess = 0;
constexpr int kMemcpy = 1;
constexpr int kMemset = 2;
constexpr int kConcurrentKernel = 10;
constexpr uint32_t kFlushForced = 1;
constexpr size_t kCopyKindAt = 4;  // uint8_t, of CUpti_ActivityMemcpy
constexpr size_t kBytesAt = 8;     // uint64_t, of CUpti_ActivityMemcpy and CUpti_ActivityMemset
constexpr size_t kStartAt = 16;    // uint64_t, ns, of all three
constexpr size_t kEndAt = 24;      // uint64_t, ns, of all three
constexpr size_t kNameAt = 104;    // const char*, of CUpti_ActivityKernel4 to CUpti_ActivityKernel13
constexpr size_t kBufferBytes = size_t{8} << 20U;

using RequestBuffer = void (*)(uint8_t** buffer, size_t* size, size_t* most_records);
using BufferComplete = void (*)(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid);

template <class T>
T at(const uint8_t* record, size_t offset) {
  T value{};
  std::memcpy(static_cast<void*>(&value), record + offset, sizeof(T));
  return value;
}

std::string readable(const char* mangled) {
  if (mangled == nullptr) return "a kernel without a name";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? name.get() : mangled;
}

std::string copy_name(uint8_t kind) {
  const char* ways[] = {"", " to the device", " to the host", "", "", "", "", "", " on the device"};
  return std::string("copy") + (kind < std::size(ways) ? ways[kind] : "");
}

void* open_cupti() {
  constexpr const char* kLibrary = "libcupti.so.13";
  const char* folders = std::getenv("TRAINYARD_NVIDIA_LIBRARIES");
  std::istringstream list(folders != nullptr ? folders : "");
  for (std::string folder; std::getline(list, folder, ':');) {
    if (void* handle = dlopen((folder + "/" + kLibrary).c_str(), RTLD_NOW); handle != nullptr) return handle;
  }
  if (void* handle = dlopen(kLibrary, RTLD_NOW); handle != nullptr) return handle;
  throw Error(Exit::device, std::string("there is no CUPTI: ") + dlerror());
}

/// Of a library that is never closed: its threads go on.
struct Cupti {
  int (*register_callbacks)(RequestBuffer, BufferComplete) = nullptr;
  int (*enable)(int kind) = nullptr;
  int (*disable)(int kind) = nullptr;
  int (*flush_all)(uint32_t flag) = nullptr;
  int (*next_record)(uint8_t* buffer, size_t valid, uint8_t** record) = nullptr;

  Cupti() {
    void* library = open_cupti();
    const auto find = [library](auto& function, const char* name) {
      void* found = dlsym(library, name);
      if (found == nullptr) throw Error(Exit::device, std::string("CUPTI has no ") + name);
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    find(register_callbacks, "cuptiActivityRegisterCallbacks");
    find(enable, "cuptiActivityEnable");
    find(disable, "cuptiActivityDisable");
    find(flush_all, "cuptiActivityFlushAll");
    find(next_record, "cuptiActivityGetNextRecord");
  }
};

void require(const char* name, int code) {
  if (code != kSuccess) throw Error(Exit::device, std::string(name) + " of CUPTI returned " + std::to_string(code));
}

}  // namespace

class KernelTimes::Collector {
 public:
  Collector() {
    require("cuptiActivityRegisterCallbacks", cupti_.register_callbacks(&request, &complete));
    active() = this;
  }
  ~Collector() {
    // An error has no one left to tell.
    for (const int kind : kKinds) cupti_.disable(kind);
    cupti_.flush_all(kFlushForced);
    active() = nullptr;
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  void start() {
    for (const int kind : kKinds) require("cuptiActivityEnable", cupti_.enable(kind));
  }

  std::vector<DeviceTime> take() {
    require("cuptiActivityFlushAll", cupti_.flush_all(kFlushForced));
    std::map<std::string, DeviceTime> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(times_);
    }
    std::vector<DeviceTime> all;
    for (auto& [name, time] : taken) all.push_back(std::move(time));
    std::ranges::sort(all, std::greater{}, &DeviceTime::milliseconds);
    return all;
  }

 private:
  static constexpr int kKinds[] = {kConcurrentKernel, kMemcpy, kMemset};

  /// Whom the callbacks serve: CUPTI gives them nothing of ours.
  static std::atomic<Collector*>& active() {
    static std::atomic<Collector*> collector{nullptr};
    return collector;
  }

  static void request(uint8_t** buffer, size_t* size, size_t* most_records) {
    *buffer = active() != nullptr ? static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes)) : nullptr;
    *size = *buffer != nullptr ? kBufferBytes : 0;
    *most_records = 0;
  }
  static void complete(void* /*context*/, uint32_t /*stream*/, uint8_t* buffer, size_t /*size*/, size_t valid) {
    if (Collector* collector = active(); collector != nullptr && valid > 0) collector->read(buffer, valid);
    std::free(buffer);
  }

  void read(uint8_t* buffer, size_t valid) {
    uint8_t* record = nullptr;
    const std::lock_guard lock(mutex_);
    while (cupti_.next_record(buffer, valid, &record) == kSuccess) add(record);
  }
  void add(const uint8_t* record) {
    const int kind = at<int>(record, 0);
    if (std::ranges::find(kKinds, kind) == std::end(kKinds)) return;
    const bool kernel = kind == kConcurrentKernel;
    const std::string name = kernel            ? readable(at<const char*>(record, kNameAt))
                             : kind == kMemset ? "memset"
                                               : copy_name(at<uint8_t>(record, kCopyKindAt));
    DeviceTime& time = times_[name];
    time.name = name;
    ++time.launches;
    time.milliseconds += 1e-6 * static_cast<double>(at<uint64_t>(record, kEndAt) - at<uint64_t>(record, kStartAt));
    if (!kernel) time.bytes += at<uint64_t>(record, kBytesAt);
  }

  Cupti cupti_;
  std::mutex mutex_;
  std::map<std::string, DeviceTime> times_;
};

KernelTimes::KernelTimes() : collector_(std::make_unique<Collector>()) { collector_->start(); }
KernelTimes::~KernelTimes() = default;
std::vector<DeviceTime> KernelTimes::take() { return collector_->take(); }

}  // namespace trainyard::proof
