// The node's GPUs through NVML, which is loaded at run time where there is one.
#pragma once
#include <memory>

#include "agent/messages/json.h"

namespace trainyard {

class GpuSampler {
 public:
  GpuSampler();  ///< loads nothing yet
  ~GpuSampler();
  GpuSampler(const GpuSampler&) = delete;
  GpuSampler& operator=(const GpuSampler&) = delete;

  /// The `gpus` list of gpus/<host>.jsonl; empty where there is no driver. A figure that a GPU does
  /// not tell is null, a text empty, memory 0 of 0; a GPU that is lost keeps its name and has a
  /// `problem`. May hang for as long as the driver does: only the process of figures_process.h
  /// asks.
  Json sample();

 private:
  class Nvml;
  std::unique_ptr<Nvml> nvml_;
  double next_try_ = 0;  ///< monotonic seconds: a driver may be loaded later
};

}  // namespace trainyard
