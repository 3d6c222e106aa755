// Which of cuDNN's engines runs an operation.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trainer/ops/cuda/library/cudnn/descriptor.h"
#include "trainer/ops/cuda/library/cudnn/plan_chooser.h"

namespace trainyard::cuda {

/// Which engines may be taken. All of them sum in fp32 and give the same bits each time.
enum class Arithmetic {
  exact,  ///< fp32 throughout
  tf32,   ///< fp32 in memory; factors rounded to 10 bits where there are tensor cores for it
  narrow  ///< bf16 or fp16 in memory
};

struct Plan {
  Descriptor plan;
  size_t workspace = 0;                           ///< bytes
  std::string name;                               ///< "engine 12"
  std::string tag;                                ///< as of its candidate
  bool transforms = false, tensor_cores = false;  ///< as of its candidate
};

/// An engine and its settings, as cuDNN suggests them.
struct Candidate {
  Descriptor configuration;
  int64_t engine = 0;
  std::string tag;            ///< "engine 12 2=1 13=0": with its knobs, which tells it apart from others
  bool transforms = false;    ///< its input (Winograd, Fourier), which rounds worse
  bool tensor_cores = false;  ///< which are many times faster
};

/// What is planned for: the handle's device, or one that need not be there, by its properties.
struct Target {
  cudnnHandle_t handle = nullptr;
  const Descriptor* properties = nullptr;  ///< a CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, where there is no handle
};

/// cuDNN's suggestions that compute so: best first, but those without tensor cores, where they may
/// be used, behind all others, and those that transform last.
std::vector<Candidate> candidates(const Launcher& launcher, const Target& target, const Descriptor& graph,
                                  Arithmetic arithmetic);

/// The first candidate that cuDNN can really run, in at most 1 GiB of workspace. Nothing where
/// there is none.
std::optional<Plan> choose_plan(const Launcher& launcher, const Target& target, const Descriptor& graph,
                                Arithmetic arithmetic);

/// What tuned_plan() has to know beside the graph.
struct Tuning {
  PlanChooser& chooser;
  PlanQuestion question;
  /// The milliseconds of a plan on the device; nothing where it cannot run there.
  std::function<std::optional<double>(const std::vector<Plan>& plans, size_t plan)> time;
};

/// As choose_plan, but of those that transform their input as its choice does, the one that the
/// chooser takes.
std::optional<Plan> tuned_plan(const Launcher& launcher, const Target& target, const Descriptor& graph,
                               Arithmetic arithmetic, const Tuning& tuning);

}  // namespace trainyard::cuda
