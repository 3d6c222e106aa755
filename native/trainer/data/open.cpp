#include "common/error.h"
#include "trainer/data/kinds.h"

namespace trainyard {

std::unique_ptr<Dataset> open_dataset(const std::string& spec, int image_size, const DatasetOptions& options) {
  if (spec.empty())
    throw Error(Exit::usage, "--data is empty. Name a folder of class folders or TFRecord shards, or synthetic");
  if (!is_synthetic(spec) && is_records(spec)) return open_records(spec, options);
  if (options.label_offset) {
    throw Error(Exit::usage, "--label-offset is for TFRecord shards, and " + spec + " holds none. Leave it out");
  }
  if (is_synthetic(spec)) return open_synthetic(spec, image_size);
  return open_folder(spec, options.listed);
}

}  // namespace trainyard
