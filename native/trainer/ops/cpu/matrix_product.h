// oneDNN's matrix product in fp32.
#pragma once

namespace trainyard::cpu {

struct ProductOptions {
  bool transpose_a = false;  ///< a is stored as [k, m]
  bool transpose_b = false;  ///< b is stored as [n, k]
  bool add = false;          ///< c += the product, instead of c = the product
};

/// c[m, n] = op(a)[m, k] op(b)[k, n], row-major. Throws Error where oneDNN refuses.
void multiply(ProductOptions options, int m, int n, int k, const float* a, const float* b, float* c);

}  // namespace trainyard::cpu
