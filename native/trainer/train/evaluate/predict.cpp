#include "trainer/train/evaluate/predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/files.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/data/kinds.h"
#include "trainer/train/evaluate/evaluate.h"
#include "trainer/train/process/use_threads.h"

namespace trainyard {
namespace {

/// RFC 4180: quoted when it holds a comma, a quote or a line break.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

std::vector<double> softmax(std::span<const float> logits) {
  const double largest = *std::max_element(logits.begin(), logits.end());
  std::vector<double> result;
  for (const float logit : logits) result.push_back(std::exp(logit - largest));
  const double total = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& value : result) value /= total;
  return result;
}

std::string row(const std::string& name, std::span<const float> logits, const std::vector<std::string>& classes,
                bool with_logits) {
  const std::vector<double> probabilities = softmax(logits);
  std::vector<size_t> order(classes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return probabilities[a] > probabilities[b]; });
  std::string best;
  for (size_t i = 0; i < std::min<size_t>(order.size(), 5); ++i) {
    best += (i > 0 ? " " : "") + classes[order[i]] + ":" + number(probabilities[order[i]]);
  }
  std::string text = csv_field(name) + "," + csv_field(classes[order[0]]) + "," + number(probabilities[order[0]]) +
                     "," + csv_field(best);
  for (size_t i = 0; with_logits && i < logits.size(); ++i) text += "," + number(logits[i]);
  return text + "\n";
}

/// Classes of images do not matter, so folders are not asked for them; those of shards must be the
/// checkpoint's, as its labels come with each record.
std::unique_ptr<Dataset> open_for_prediction(const PredictOptions& options, const CheckpointModel& model) {
  if (!is_synthetic(options.data) && !is_records(options.data)) {
    if (options.label_offset) {
      throw Error(Exit::usage,
                  "--label-offset is for TFRecord shards, and " + options.data + " holds none. Leave it out");
    }
    return open_plain_images(options.data, model.class_names);
  }
  auto dataset = open_for_evaluation(options.data, options.label_offset, model);
  require_same_classes(model, *dataset, options.data);
  return dataset;
}

}  // namespace

int64_t predict(const PredictOptions& options) {
  use_threads(std::max(options.threads, 1));
  const CheckpointModel model = read_checkpoint_model(options.checkpoint);
  const auto dataset = open_for_prediction(options, model);
  const auto network =
      load_network(options.checkpoint, model, options.batch_size, options.device, parse_precision(options.precision));
  std::string csv = "path,class,probability,top5";
  for (size_t i = 0; options.logits && i < model.class_names.size(); ++i)
    csv += ",logit_" + csv_field(model.class_names[i]);
  csv += '\n';
  const auto classes = static_cast<size_t>(model.classes);
  int64_t images = 0;
  evaluate(*network, *dataset, model.image_size, options.batch_size,
           [&](const Batch& batch, std::span<const float> logits) {
             for (size_t i = 0; i < static_cast<size_t>(batch.count); ++i) {
               csv += row(dataset->name(batch.indices[i]), logits.subspan(i * classes, classes), model.class_names,
                          options.logits);
               ++images;
             }
           });
  replace_file(options.out, csv);
  return images;
}

}  // namespace trainyard
