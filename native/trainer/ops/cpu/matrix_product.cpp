#include "trainer/ops/cpu/matrix_product.h"

#include <string>

#include "common/error.h"
#include "oneapi/dnnl/dnnl.h"

namespace trainyard::cpu {

void multiply(ProductOptions options, int m, int n, int k, const float* a, const float* b, float* c) {
  const dnnl_status_t status =
      dnnl_sgemm(options.transpose_a ? 'T' : 'N', options.transpose_b ? 'T' : 'N', m, n, k, 1.0F, a,
                 options.transpose_a ? m : k, b, options.transpose_b ? k : n, options.add ? 1.0F : 0.0F, c, n);
  if (status != dnnl_success) {
    throw Error(Exit::internal, "oneDNN refused a matrix product (status " + std::to_string(status) + "). Report it.");
  }
}

}  // namespace trainyard::cpu
