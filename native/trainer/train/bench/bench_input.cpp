#include "trainer/train/bench/bench_input.h"

#include <ctime>
#include <vector>

#include "common/error.h"
#include "trainer/base/parallel.h"
#include "trainer/data/order.h"
#include "trainer/data/pixels/mixing.h"
#include "trainer/data/reader.h"
#include "trainer/models/network.h"
#include "trainer/ops/contract/backend.h"
#include "trainer/train/process/interval.h"

namespace trainyard {

namespace {

constexpr int kBatch = 32;

}  // namespace

nlohmann::json bench_input(const BenchInputOptions& options) {
  set_threads(1);
  const auto dataset = open_dataset(options.data, options.image_size);
  LoaderOptions loader;
  loader.image_size = options.image_size;
  loader.batch = static_cast<int>(std::min<size_t>(kBatch, dataset->size()));
  loader.augment = augment_of(options.augment);
  loader.random_erasing = options.random_erasing;
  ReaderState state(*dataset, loader);
  Reader reader(state, options.whole);
  Order order(dataset->size(), loader);
  const size_t pixels = static_cast<size_t>(options.image_size) * options.image_size * 3;
  std::vector<uint8_t> bytes(pixels * loader.batch);
  std::vector<float> normalised(bytes.size());
  const TensorDesc desc{{loader.batch, 3, options.image_size, options.image_size}, Layout::nhwc};
  const auto input = make_cpu_backend()->make_input(desc, {kPixelMean[0], kPixelMean[1], kPixelMean[2]},
                                                    {kPixelStd[0], kPixelStd[1], kPixelStd[2]});
  Random random({loader.seed});
  int64_t images = 0;
  double seconds = 0;
  const Stopwatch watch;
  const std::clock_t begin = std::clock();
  for (int64_t step = 0; seconds < options.seconds; ++step) {
    const Part part = order.part(step);
    for (int i = 0; i < part.count; ++i) {
      const size_t index = part.index(i, 0);
      const auto problem = reader.read(index, part.view(i), bytes.data() + pixels * i);
      if (problem) throw Error(Exit::data, dataset->name(index) + ": " + *problem + ". Give sound images");
    }
    if (options.mixing.any()) {
      mix_images(draw_mixture(options.mixing, options.image_size, random), part.count, options.image_size,
                 bytes.data());
    }
    input->forward(bytes.data(), part.count, normalised.data());
    images += part.count;
    seconds = watch.milliseconds() / 1000;
  }
  // Where others use the machine as well, the processor's time says more than the clock's.
  const double cpu_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  return {{"images", images},
          {"cpu_seconds", cpu_seconds},
          {"seconds", seconds},
          {"images_per_sec", static_cast<double>(images) / seconds},
          {"image_size", options.image_size},
          {"augment", options.augment},
          {"random_erasing", options.random_erasing},
          {"mixup", options.mixing.mixup},
          {"cutmix", options.mixing.cutmix},
          {"whole", options.whole}};
}

}  // namespace trainyard
