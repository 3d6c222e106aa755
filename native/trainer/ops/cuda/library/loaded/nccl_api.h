// NCCL's functions, found at run time: one rank alone never needs them.
#pragma once
#include <string>

#include "trainer/base/device_group.h"
#include "trainer/ops/cuda/launch.h"

// Whoever builds the library for one GPU alone may have no header of NCCL's.
#if __has_include(<nccl.h>)
#define TRAINYARD_NCCL 1
#include <nccl.h>
#endif

namespace trainyard::cuda {

#ifdef TRAINYARD_NCCL
struct NcclApi {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetErrorString) get_error_string = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) comm_init_rank_config = nullptr;
  decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
  decltype(&ncclCommFinalize) comm_finalize = nullptr;
  decltype(&ncclCommDestroy) comm_destroy = nullptr;
  decltype(&ncclCommAbort) comm_abort = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  // Since 2.19; nullptr in an older one, and where one of them is missing.
  decltype(&ncclCommRegister) comm_register = nullptr;
  decltype(&ncclCommDeregister) comm_deregister = nullptr;
  decltype(&ncclMemAlloc) mem_alloc = nullptr;
  decltype(&ncclMemFree) mem_free = nullptr;
};

/// Of the libnccl.so.2 that the trainer loaded, or of the system's. Fails naming what is missing in
/// it.
NcclApi load_nccl_api(const Launcher& launcher);
#endif

/// "2.32.3". Fails as load_nccl_api, and where NCCL is too old for CUDA 13.
std::string nccl_version(const Launcher& launcher);
DeviceGroupId new_nccl_id(const Launcher& launcher);

}  // namespace trainyard::cuda
