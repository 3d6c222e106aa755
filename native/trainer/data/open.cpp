#include "common/error.h"
#include "trainer/data/kinds.h"

namespace trainyard {

namespace {

std::unique_ptr<Dataset> open_kind(const std::string& spec, int image_size, const DatasetOptions& options) {
  if (spec.empty())
    throw Error(Exit::usage, "--data is empty. Name a folder of class folders or TFRecord shards, or synthetic");
  if (!is_synthetic(spec) && is_records(spec)) return open_records(spec, options);
  if (options.label_offset) {
    throw Error(Exit::usage, "--label-offset is for TFRecord shards, and " + spec + " holds none. Leave it out");
  }
  if (is_synthetic(spec)) return open_synthetic(spec, image_size);
  return open_folder(spec, options.listed);
}

bool has_boxes(const Dataset& data) {
  for (size_t i = 0; i < data.size(); ++i) {
    if (!data.boxes(i).empty()) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<Dataset> open_dataset(const std::string& spec, int image_size, const DatasetOptions& options) {
  std::unique_ptr<Dataset> data = open_kind(spec, image_size, options);
  if (options.boxes && !has_boxes(*data)) {
    throw Error(Exit::data, "no image of " + spec +
                                " has a bounding box, which --min-object-covered is about. Make shards with boxes by "
                                "trainer prep --boxes FILE, or leave the flag out");
  }
  return data;
}

}  // namespace trainyard
