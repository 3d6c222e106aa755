#include "common/error.h"
#include "trainer/data/kinds.h"

namespace trainyard {

std::unique_ptr<Dataset> open_dataset(const std::string& spec, int image_size) {
  if (spec.empty()) throw Error(Exit::usage, "--data is empty. Name a folder of class folders, or synthetic");
  if (is_synthetic(spec)) return open_synthetic(spec, image_size);
  return open_folder(spec);
}

}  // namespace trainyard
