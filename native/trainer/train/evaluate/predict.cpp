#include "trainer/train/evaluate/predict.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
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

/// Numbers of the likeliest classes, five at most, the likeliest first.
std::vector<size_t> best_of(const std::vector<double>& probabilities) {
  std::vector<size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return probabilities[a] > probabilities[b]; });
  order.resize(std::min<size_t>(order.size(), 5));
  return order;
}

/// A line of CSV for one image.
std::string csv_row(const std::string& name, std::span<const float> logits, const std::vector<std::string>& classes,
                    bool with_logits) {
  const std::vector<double> probabilities = softmax(logits);
  const std::vector<size_t> best = best_of(probabilities);
  std::string top5;
  for (const size_t each : best) top5 += (top5.empty() ? "" : " ") + classes[each] + ":" + number(probabilities[each]);
  std::string text = csv_field(name) + "," + csv_field(classes[best[0]]) + "," + number(probabilities[best[0]]) + "," +
                     csv_field(top5);
  for (size_t i = 0; with_logits && i < logits.size(); ++i) text += "," + number(logits[i]);
  return text + "\n";
}

/// A line of JSON for one image. Bytes of a name that are no UTF-8 are replaced.
std::string json_row(const std::string& name, std::span<const float> logits, const std::vector<std::string>& classes,
                     bool with_logits) {
  const std::vector<double> probabilities = softmax(logits);
  nlohmann::json line = {{"path", name}, {"top5", nlohmann::json::array()}};
  for (const size_t each : best_of(probabilities)) {
    line["top5"].push_back({{"class", classes[each]}, {"probability", probabilities[each]}});
  }
  if (with_logits) line["logits"] = std::vector<float>(logits.begin(), logits.end());
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string csv_header(const PredictOptions& options, const std::vector<std::string>& classes) {
  std::string text = "path,class,probability,top5";
  for (size_t i = 0; options.logits && i < classes.size(); ++i) text += ",logit_" + csv_field(classes[i]);
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
  const bool as_json = options.out.ends_with(".jsonl");
  std::string text = as_json ? "" : csv_header(options, model.class_names);
  const auto classes = static_cast<size_t>(model.classes);
  int64_t images = 0;
  const auto write_rows = [&](const Batch& batch, std::span<const float> logits) {
    for (size_t i = 0; i < static_cast<size_t>(batch.count); ++i) {
      text += (as_json ? json_row : csv_row)(dataset->name(batch.indices[i]), logits.subspan(i * classes, classes),
                                             model.class_names, options.logits);
      ++images;
    }
  };
  try {
    evaluate(*network, *dataset, model, options.batch_size, write_rows);
  } catch (const NoneReadable&) {
    if (!as_json) throw;  // who reads JSON lines takes an image without a line for an unreadable one
  }
  replace_file(options.out, text);
  return images;
}

}  // namespace trainyard
