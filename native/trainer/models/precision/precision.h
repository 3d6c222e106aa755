// With how many bits a network computes.
#pragma once
#include <span>
#include <string>

#include "trainer/tensor/dtype.h"

namespace trainyard {

class Backend;

/// Master weights, their gradients, the optimizer, batch norm's statistics and the loss are fp32 in
/// all of them.
enum class Precision {
  fp32,
  tf32,  ///< fp32 in memory; products of tensor cores from 10 bits of it
  bf16,  ///< activations and their gradients in bf16, products of bf16 summed in fp32
  fp16   ///< the same with fp16, and a loss that is scaled
};

const char* precision_name(Precision precision);
/// Their names, as --precision takes them.
std::span<const std::string> precision_names();
/// Throws Error(Exit::usage) for another name.
Precision parse_precision(const std::string& name);
DType storage_of(Precision precision);

/// Makes a back end compute so. Throws Error(Exit::device) where this one cannot; call it before
/// any op is made.
void prepare_backend(Backend& backend, Precision precision);

/// Throws Error(Exit::device), and says where it works, when `device` (cpu or cuda) does not
/// compute with `precision`.
void require_precision(Precision precision, const std::string& device);

/// Throws Error(Exit::device), and names fp16, when the GPU `name` of compute capability
/// `capability_major`.x has no arithmetic for `precision`. Before anything is computed;
/// prepare_backend() refuses the same.
void require_gpu_precision(Precision precision, const std::string& name, int capability_major);

}  // namespace trainyard
