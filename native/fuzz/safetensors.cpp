// safetensors files: --init-weights takes any.
#include "trainer/checkpoint/safetensors.h"

#include <unistd.h>

#include <filesystem>

#include "common/error.h"
#include "fuzz/target.h"
#include "trainer/checkpoint/checkpoint.h"
#include "trainer/checkpoint/file_output.h"
#include "trainer/checkpoint/file_system.h"
#include "trainer/checkpoint/safetensors_header.h"

namespace trainyard::fuzz {

std::vector<std::string> seeds() {
  const std::string folder = std::filesystem::temp_directory_path() / ("fuzz-seeds-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  FileSystem files;
  FileOutput out(files, folder, "model.safetensors");
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<CounterView> counters{{"bn1.num_batches_tracked", 7}};
  const std::vector<TensorView> tensors{{"conv1.weight", {2, 1, 1, 2}, std::span(values).first(4)},
                                        {"fc.bias", {2}, std::span(values).last(2)}};
  write_safetensors(out, counters, tensors);
  out.finish();
  const std::string file = read_file(folder + "/model.safetensors");
  std::filesystem::remove_all(folder);
  return {file};
}

void run(std::string_view input) {
  const Descriptor fd = memory_file(input);
  try {
    const LoadedTensors loaded = LoadedTensors::read("/proc/self/fd/" + std::to_string(fd.get()));
    for (const LoadedTensors::Entry& entry : loaded.entries()) {
      require(entry.begin <= entry.end && entry.end <= input.size(), "a tensor lies in its file");
      require(loaded.find(entry.name) == &entry, "a name stands for one tensor");
      if (entry.dtype != "F32") continue;
      std::vector<float> values((entry.end - entry.begin) / sizeof(float));
      loaded.copy(entry.name, entry.shape, values);
    }
  } catch (const Error& error) {
    require(error.code() == Exit::data, "a bad file is the data's fault");
  }
}

}  // namespace trainyard::fuzz
