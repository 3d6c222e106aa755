#include "trainer/ops/cuda/library/loaded/nccl_api.h"

#include <cstring>

#include "trainer/ops/cuda/library/loaded/runtime_library.h"
#ifdef TRAINYARD_NCCL
#include "trainer/ops/cuda/library/cuda_release.h"
#endif

namespace trainyard::cuda {

namespace {

#ifdef TRAINYARD_NCCL

/// The first for CUDA 13, as ncclGetVersion counts, and the one for CUDA 12 that has Volta.
constexpr int kOldest = NCCL_VERSION(2, 27, 7);
/// The first that takes a user's memory as it is.
constexpr int kRegisters = NCCL_VERSION(2, 19, 1);
constexpr const char* kAdvice = ". Install nvidia-nccl-cu" TRAINYARD_CUDA_RELEASE ", or use --comm mpi";

void find_registration(NcclApi& api, const RuntimeLibrary& library) {
  int version = 0;
  if (api.get_version(&version) != ncclSuccess || version < kRegisters) return;
  NcclApi found = api;
  if (library.has(found.comm_register, "ncclCommRegister") &&
      library.has(found.comm_deregister, "ncclCommDeregister") && library.has(found.mem_alloc, "ncclMemAlloc") &&
      library.has(found.mem_free, "ncclMemFree")) {
    api = found;
  }
}

#endif

}  // namespace

#ifdef TRAINYARD_NCCL

NcclApi load_nccl_api(const Launcher& launcher) {
  const RuntimeLibrary library(launcher, {.file = "libnccl.so.2", .name = "NCCL", .advice = kAdvice});
  NcclApi api;
  library.find(api.get_version, "ncclGetVersion");
  library.find(api.get_error_string, "ncclGetErrorString");
  library.find(api.get_last_error, "ncclGetLastError");
  library.find(api.get_unique_id, "ncclGetUniqueId");
  library.find(api.comm_init_rank_config, "ncclCommInitRankConfig");
  library.find(api.comm_get_async_error, "ncclCommGetAsyncError");
  library.find(api.comm_finalize, "ncclCommFinalize");
  library.find(api.comm_destroy, "ncclCommDestroy");
  library.find(api.comm_abort, "ncclCommAbort");
  library.find(api.all_reduce, "ncclAllReduce");
  library.find(api.broadcast, "ncclBroadcast");
  find_registration(api, library);
  return api;
}

std::string nccl_version(const Launcher& launcher) {
  int version = 0;
  const NcclApi api = load_nccl_api(launcher);
  const ncclResult_t result = api.get_version(&version);
  if (result != ncclSuccess)
    fail_device(launcher, std::string("ncclGetVersion: ") + api.get_error_string(result) + kAdvice);
  const std::string text =
      std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
  if (version < kOldest) fail_device(launcher, "NCCL " + text + " is older than 2.27.7" + kAdvice);
  return text;
}

DeviceGroupId new_nccl_id(const Launcher& launcher) {
  const NcclApi api = load_nccl_api(launcher);
  ncclUniqueId made{};
  const ncclResult_t result = api.get_unique_id(&made);
  if (result != ncclSuccess) {
    fail_device(launcher, std::string("ncclGetUniqueId: ") + api.get_error_string(result) + " (" +
                              api.get_last_error(nullptr) + "). Check NCCL_SOCKET_IFNAME, or use --comm mpi");
  }
  DeviceGroupId id{};
  static_assert(sizeof(id) == sizeof(made));
  std::memcpy(id.data(), &made, sizeof(made));
  return id;
}

#else

std::string nccl_version(const Launcher& launcher) {
  fail_device(launcher,
              "this CUDA library was built without NCCL's header, nccl.h. Build it with that, or use --comm mpi");
  return "";
}

DeviceGroupId new_nccl_id(const Launcher& launcher) {
  nccl_version(launcher);
  return {};
}

#endif

}  // namespace trainyard::cuda
