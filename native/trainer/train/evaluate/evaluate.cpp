#include "trainer/train/evaluate/evaluate.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "common/error.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/pixels/augment.h"
#include "trainer/train/process/shard_progress.h"
#include "trainer/train/weights/snapshot.h"

namespace trainyard {
namespace {

constexpr int64_t most_bad_images = 100;

/// "a, b, c and 4 more", of names of classes.
std::string some_of(const std::vector<std::string>& names) {
  constexpr size_t most_shown = 5;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), most_shown); ++i) text += (i > 0 ? ", " : "") + names[i];
  if (names.size() > most_shown) text += " and " + std::to_string(names.size() - most_shown) + " more";
  return text;
}

/// The names of `a` that `b` lacks.
std::vector<std::string> missing_in(const std::vector<std::string>& b, const std::vector<std::string>& a) {
  const std::set<std::string> known(b.begin(), b.end());
  std::vector<std::string> missing;
  std::copy_if(a.begin(), a.end(), std::back_inserter(missing),
               [&](const auto& name) { return !known.contains(name); });
  return missing;
}

/// In what two lists of classes differ, in words.
std::string difference(const std::vector<std::string>& here, const std::vector<std::string>& trained) {
  const auto gone = missing_in(here, trained);
  const auto added = missing_in(trained, here);
  std::string text;
  if (!gone.empty()) text = "missing here: " + some_of(gone);
  if (!added.empty()) text += (text.empty() ? "" : "; ") + ("only here: " + some_of(added));
  if (!text.empty()) return text;
  const auto [at, other] = std::mismatch(here.begin(), here.end(), trained.begin(), trained.end());
  const auto number = std::to_string(at - here.begin());
  if (at == here.end() || other == trained.end()) return "a name stands there twice";
  return "the same names in another order: class " + number + " is " + *at + " here and " + *other + " there";
}

/// Leaves out the loader's stand-ins for unreadable images: each image is judged once, or not at
/// all. Unshuffled, slot i of a step is image first + i of the data set.
void drop_stand_ins(Batch& batch, size_t first, size_t image_bytes) {
  size_t kept = 0;
  for (size_t i = 0; i < static_cast<size_t>(batch.count); ++i) {
    if (batch.indices[i] != first + i) continue;
    if (kept != i) {
      std::copy_n(batch.images.begin() + static_cast<ptrdiff_t>(i * image_bytes), image_bytes,
                  batch.images.begin() + static_cast<ptrdiff_t>(kept * image_bytes));
      batch.labels[kept] = batch.labels[i];
      batch.indices[kept] = batch.indices[i];
    }
    ++kept;
  }
  batch.count = static_cast<int>(kept);
}

}  // namespace

EvalScores EvalSums::scores() const {
  EvalScores scores{.images = images, .bad_images = bad_images};
  if (images == 0) return scores;
  const auto count = static_cast<double>(images);
  scores.loss = loss / count;
  scores.top1 = static_cast<double>(top1) / count;
  scores.top5 = static_cast<double>(top5) / count;
  return scores;
}

EvalSums judge(Network& network, const Dataset& dataset, const EvalPass& pass) {
  EvalSums sums;
  LoaderOptions options;
  options.image_size = pass.image_size;
  options.resize = pass.resize;
  options.batch = pass.batch_size;
  options.rank = pass.rank;
  options.world = pass.world;
  options.threads = pass.threads;
  options.shuffle = false;
  options.augment = Augment::none;
  options.as_torchvision = true;
  options.prefetch = 2;
  options.max_bad_images = most_bad_images;
  options.on_bad_image = [&](const std::string& path, const std::string& message) {
    std::fprintf(stderr, "trainer: warning: left out %s: %s\n", path.c_str(), message.c_str());
    ++sums.bad_images;
  };
  options.on_retry = [](const std::string& line) { std::fprintf(stderr, "trainer: warning: %s\n", line.c_str()); };
  const auto loader = make_loader(dataset, options);
  const auto images = static_cast<size_t>(pass.batch_size);
  const size_t image_bytes = static_cast<size_t>(pass.image_size) * static_cast<size_t>(pass.image_size) * 3;
  const size_t classes = dataset.class_names().size();
  std::vector<float> logits(images * classes);  // [batch, classes]
  for (int64_t step = 0; step < loader->steps_per_epoch(); ++step) {
    if (pass.cancelled && pass.cancelled()) break;
    Batch batch = loader->next(step);
    const auto first = static_cast<size_t>(step) * static_cast<size_t>(pass.world) + static_cast<size_t>(pass.rank);
    drop_stand_ins(batch, first * images, image_bytes);
    if (batch.count == 0) continue;
    const BatchView view{batch.count, pass.image_size, batch.images.data(), batch.labels.data()};
    const auto used = std::span(logits).first(static_cast<size_t>(batch.count) * classes);
    const StepResult result = network.evaluate(view, used);
    sums.loss += result.loss_sum;
    sums.top1 += result.top1;
    sums.top5 += result.top5;
    sums.images += batch.count;
    if (pass.sink) pass.sink(batch, used);
  }
  return sums;
}

EvalScores evaluate(Network& network, const Dataset& dataset, const CheckpointModel& model, int batch_size,
                    const LogitsSink& sink) {
  const EvalPass pass{.image_size = model.image_size, .resize = model.resize, .batch_size = batch_size, .sink = sink};
  return judge(network, dataset, pass).scores();
}

CheckpointModel read_checkpoint_model(const std::string& checkpoint) {
  const nlohmann::json state = read_checkpoint_state(checkpoint);
  // Checkpoints of before --eval-image-size have one size, and none has --eval-resize.
  const int image_size = state.value("eval_image_size", state.at("image_size").get<int>());
  return {state.at("model").get<std::string>(),
          state.at("classes").get<int>(),
          image_size,
          state.value("eval_resize", evaluation_resize(image_size)),
          state.at("step").get<int64_t>(),
          state.at("class_names").get<std::vector<std::string>>(),
          state.value("label_offset", int64_t{0})};
}

std::unique_ptr<Dataset> open_for_evaluation(const std::string& data, std::optional<int64_t> label_offset,
                                             const CheckpointModel& model, bool says) {
  DatasetOptions options;
  options.split = Split::evaluation;
  options.label_offset = label_offset;
  options.trained = TrainedData{model.class_names, model.label_offset};
  options.max_bad_images = most_bad_images;
  options.on_note = [says](const std::string& line) {
    if (says) std::fprintf(stderr, "trainer: warning: %s\n", line.c_str());
  };
  options.progress = shard_progress(says);
  return open_dataset(data, model.image_size, options);
}

std::unique_ptr<Network> load_network(const std::string& checkpoint, const CheckpointModel& model, int batch_size,
                                      const std::string& device, Precision precision) {
  NetworkOptions options;
  options.model = model.model;
  options.classes = model.classes;
  options.image_size = model.image_size;
  options.batch = batch_size;
  options.training = false;
  options.device = device;
  options.precision = precision;
  auto network = make_network(options);
  load_weights(checkpoint, *network);
  return network;
}

void require_same_classes(const CheckpointModel& model, const Dataset& dataset, const std::string& data) {
  if (dataset.class_names() == model.class_names) return;
  throw Error(Exit::data, "the classes of " + data + " (" + std::to_string(dataset.class_names().size()) +
                              ") are not those the checkpoint was trained on (" + std::to_string(model.classes) +
                              "): " + difference(dataset.class_names(), model.class_names) +
                              ". Give data with the same classes");
}

}  // namespace trainyard
