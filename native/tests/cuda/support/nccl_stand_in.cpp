// Stands where NVIDIA's libnccl.so.2 would, for failures: without GPUs the real one never comes as
// far as a collective. Functions, results and their texts are those of nccl.h and of NVIDIA's NCCL
// documentation (chapter "API", "Types" and "Fault Tolerance"). NCCL_STAND_IN says which result a
// function has: "ncclAllReduce=6", or "async=6" for what ncclCommGetAsyncError reports.
// "ncclAllReduceOfType=9" refuses sums of another type, "ncclAllReduceOnOps=1" those on another
// stream than the default one, "ncclGetVersion=21800" is an older one. ncclStandInAborts() counts
// calls of ncclCommAbort, ncclStandInRegistered() what is registered, ncclStandInAllocated() its
// memory.
#include <nccl.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

ncclResult_t scripted(const std::string& name) {
  const char* script = std::getenv("NCCL_STAND_IN");
  const std::string wanted = name + "=";
  if (script == nullptr || std::strncmp(script, wanted.c_str(), wanted.size()) != 0) return ncclSuccess;
  return static_cast<ncclResult_t>(std::atoi(script + wanted.size()));
}

struct Counts {
  std::atomic<int> aborts, registered, allocated;
};
Counts& counts() {
  static Counts all{};
  return all;
}

}  // namespace

extern "C" int ncclStandInAborts() { return counts().aborts; }
extern "C" int ncclStandInRegistered() { return counts().registered; }
extern "C" int ncclStandInAllocated() { return counts().allocated; }

ncclResult_t ncclCommRegister(const ncclComm_t /*comm*/, void* memory, size_t /*bytes*/, void** handle) {
  const ncclResult_t result = scripted("ncclCommRegister");
  if (result != ncclSuccess) return result;
  *handle = memory;
  ++counts().registered;
  return ncclSuccess;
}
ncclResult_t ncclCommDeregister(const ncclComm_t /*comm*/, void* /*handle*/) {
  --counts().registered;
  return ncclSuccess;
}
ncclResult_t ncclMemAlloc(void** memory, size_t bytes) {
  const ncclResult_t result = scripted("ncclMemAlloc");
  if (result != ncclSuccess) return result;
  *memory = std::malloc(bytes);
  ++counts().allocated;
  return ncclSuccess;
}
ncclResult_t ncclMemFree(void* memory) {
  std::free(memory);
  --counts().allocated;
  return ncclSuccess;
}

ncclResult_t ncclGetVersion(int* version) {
  const int older = scripted("ncclGetVersion");
  *version = older == 0 ? NCCL_VERSION_CODE : older;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    default:
      return "no error";
  }
}

const char* ncclGetLastError(ncclComm_t /*comm*/) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* /*id*/) { return ncclSuccess; }

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int /*ranks*/, ncclUniqueId /*id*/, int /*rank*/,
                                    ncclConfig_t* /*config*/) {
  *comm = reinterpret_cast<ncclComm_t>(comm);
  return scripted("ncclCommInitRankConfig");
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr) return ncclInvalidArgument;
  *error = scripted("async");
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t /*comm*/) { return ncclSuccess; }
ncclResult_t ncclCommDestroy(ncclComm_t /*comm*/) { return ncclSuccess; }
ncclResult_t ncclCommAbort(ncclComm_t /*comm*/) {
  ++counts().aborts;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* /*from*/, void* /*to*/, size_t /*count*/, ncclDataType_t type,
                           ncclRedOp_t /*op*/, ncclComm_t /*comm*/, cudaStream_t stream) {
  const int wanted = scripted("ncclAllReduceOfType");
  if (wanted != 0 && wanted != static_cast<int>(type)) return ncclInvalidArgument;
  if (scripted("ncclAllReduceOnOps") != 0 && stream != nullptr) return ncclInvalidArgument;
  return scripted("ncclAllReduce");
}

ncclResult_t ncclBroadcast(const void* /*from*/, void* /*to*/, size_t /*count*/, ncclDataType_t /*type*/, int /*root*/,
                           ncclComm_t /*comm*/, cudaStream_t /*stream*/) {
  return scripted("ncclBroadcast");
}
