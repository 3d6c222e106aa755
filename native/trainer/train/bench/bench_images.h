// What the steps of `trainer bench step` see.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "trainer/data/source.h"
#include "trainer/models/network.h"

namespace trainyard {

class BenchImages {
 public:
  virtual ~BenchImages() = default;
  /// "fixed": one batch, again and again; "loaded": the loader's batches, one after the other.
  virtual const char* kind() const = 0;
  /// The batch of `step`, which the next take() or done() ends.
  virtual BatchView take(int64_t step) = 0;
  /// While a step runs: the batch of the next one, to be brought ahead, if there is another.
  virtual std::optional<BatchView> ahead() = 0;
  /// The step is over.
  virtual void done() = 0;
  /// Milliseconds in which loading held a step up, since the last call.
  virtual double take_waited_ms() = 0;
};

/// The loader's first batch, which the network keeps after its first step: no host time of images
/// and no copy of them is in the others. network must outlive what is returned.
std::unique_ptr<BenchImages> fixed_images(std::unique_ptr<Loader> loader, int image_size, Network& network);

/// The same path as in training.
std::unique_ptr<BenchImages> loaded_images(std::unique_ptr<Loader> loader, int image_size, Network& network);

}  // namespace trainyard
