#include "trainer/ops/cuda/library/nccl_api.h"

#include <dlfcn.h>

#include <cstring>

#include "common/error.h"

namespace trainyard::cuda {

namespace {

void fail(const Launcher& launcher, const std::string& message) {
  launcher.fail(static_cast<int>(Exit::device), message.c_str());
}

#ifdef TRAINYARD_NCCL

/// The first for CUDA 13, as ncclGetVersion counts.
constexpr int kOldest = NCCL_VERSION(2, 27, 7);
constexpr const char* kAdvice = ". Install nvidia-nccl-cu13, or use --comm mpi";

template <class F>
void find(const Launcher& launcher, void* library, F& function, const char* name) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (function == nullptr) fail(launcher, std::string("libnccl.so.2 has no ") + name + kAdvice);
}

#endif

}  // namespace

#ifdef TRAINYARD_NCCL

NcclApi load_nccl_api(const Launcher& launcher) {
  // By its name: that is the one the trainer loaded by its path, where it found one. Never closed.
  void* library = ::dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) fail(launcher, std::string("NCCL cannot be loaded: ") + ::dlerror() + kAdvice);
  NcclApi api;
  find(launcher, library, api.get_version, "ncclGetVersion");
  find(launcher, library, api.get_error_string, "ncclGetErrorString");
  find(launcher, library, api.get_last_error, "ncclGetLastError");
  find(launcher, library, api.get_unique_id, "ncclGetUniqueId");
  find(launcher, library, api.comm_init_rank_config, "ncclCommInitRankConfig");
  find(launcher, library, api.comm_get_async_error, "ncclCommGetAsyncError");
  find(launcher, library, api.comm_finalize, "ncclCommFinalize");
  find(launcher, library, api.comm_destroy, "ncclCommDestroy");
  find(launcher, library, api.comm_abort, "ncclCommAbort");
  find(launcher, library, api.all_reduce, "ncclAllReduce");
  find(launcher, library, api.broadcast, "ncclBroadcast");
  return api;
}

std::string nccl_version(const Launcher& launcher) {
  int version = 0;
  const NcclApi api = load_nccl_api(launcher);
  const ncclResult_t result = api.get_version(&version);
  if (result != ncclSuccess) fail(launcher, std::string("ncclGetVersion: ") + api.get_error_string(result) + kAdvice);
  const std::string text =
      std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  if (version < kOldest) fail(launcher, "NCCL " + text + " is older than CUDA 13" + kAdvice);
  return text;
}

DeviceGroupId new_nccl_id(const Launcher& launcher) {
  const NcclApi api = load_nccl_api(launcher);
  ncclUniqueId made{};
  const ncclResult_t result = api.get_unique_id(&made);
  if (result != ncclSuccess) {
    fail(launcher, std::string("ncclGetUniqueId: ") + api.get_error_string(result) + " (" +
                       api.get_last_error(nullptr) + "). Check NCCL_SOCKET_IFNAME, or use --comm mpi");
  }
  DeviceGroupId id{};
  static_assert(sizeof(id) == sizeof(made));
  std::memcpy(id.data(), &made, sizeof(made));
  return id;
}

#else

std::string nccl_version(const Launcher& launcher) {
  fail(launcher, "this CUDA library was built without NCCL's header, nccl.h. Build it with that, or use --comm mpi");
  return "";
}

DeviceGroupId new_nccl_id(const Launcher& launcher) {
  nccl_version(launcher);
  return {};
}

#endif

}  // namespace trainyard::cuda
