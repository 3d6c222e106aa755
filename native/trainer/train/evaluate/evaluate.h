// One pass of a network over a data set, and the network that a checkpoint describes.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trainer/data/source.h"
#include "trainer/models/network.h"

namespace trainyard {

struct EvalScores {
  double loss = 0;  ///< mean
  double top1 = 0;  ///< fraction
  double top5 = 0;
  int64_t images = 0;
  int64_t bad_images = 0;
};

/// What one process judged: sums, which those of others may be added to.
struct EvalSums {
  double loss = 0;
  int64_t top1 = 0;  ///< images
  int64_t top5 = 0;
  int64_t images = 0;
  int64_t bad_images = 0;

  EvalScores scores() const;
};

/// Called after each batch with its images and their logits, [batch.count, classes].
using LogitsSink = std::function<void(const Batch& batch, std::span<const float> logits)>;

/// How a data set is judged, and which part of it by this process.
struct EvalPass {
  int image_size = 0;
  int resize = 0;  ///< pixels of an image's shorter side before the crop
  int batch_size = 0;
  int rank = 0;
  int world = 1;    ///< processes that share the images among them
  int threads = 1;  ///< that decode
  LogitsSink sink{};
  /// Asked before each batch; where it says so, judge() ends, and returns nothing useful.
  std::function<bool()> cancelled{};
};

/// Every image once, over all processes, to the pixel as torchvision's Resize and CenterCrop give
/// it, in order. Unreadable images are left out, named on stderr and counted; with more than 100 of
/// them in one process it throws Error(Exit::data).
EvalSums judge(Network& network, const Dataset& dataset, const EvalPass& pass);

/// What state.json of a checkpoint says of its model.
struct CheckpointModel {
  std::string model;
  int classes = 0;
  int image_size = 0;  ///< that it is judged and used with; training may have had another one
  int resize = 0;      ///< of an image's shorter side, before the centre is cropped
  int64_t step = 0;
  std::vector<std::string> class_names;
  int64_t label_offset = 0;  ///< of the shards it was trained on
};
CheckpointModel read_checkpoint_model(const std::string& checkpoint);

/// All images, judged by this process as the checkpoint's model is.
EvalScores evaluate(Network& network, const Dataset& dataset, const CheckpointModel& model, int batch_size,
                    const LogitsSink& sink = {});

/// The data that a checkpoint is evaluated on. says: lines for people go to stderr. Throws as
/// open_dataset.
std::unique_ptr<Dataset> open_for_evaluation(const std::string& data, std::optional<int64_t> label_offset,
                                             const CheckpointModel& model, bool says = true);

/// An inference network of that kind with the checkpoint's weights. device: cpu or cuda, which is
/// the first GPU.
std::unique_ptr<Network> load_network(const std::string& checkpoint, const CheckpointModel& model, int batch_size,
                                      const std::string& device, Precision precision);

/// Throws Error(Exit::data) unless the data set's classes are the checkpoint's, in the same order.
void require_same_classes(const CheckpointModel& model, const Dataset& dataset, const std::string& data);

}  // namespace trainyard
