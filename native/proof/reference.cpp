// The CUDA back end's ops on the host, as a library that shares no name with the one under proof.
#include "tests/ops/host/host_cuda.h"

extern "C" __attribute__((visibility("default"))) trainyard::Backend* trainyard_reference() {
  return trainyard::test::make_host_cuda().release();
}
