#include "trainer/train/bench/bench_images.h"

#include <limits>
#include <utility>

#include "trainer/train/loop/batch_feed.h"

namespace trainyard {
namespace {

class FixedImages final : public BenchImages {
 public:
  FixedImages(Loader& loader, int image_size, Network& network)
      : batch_(loader.next(0)), image_size_(image_size), network_(network) {}
  const char* kind() const override { return "fixed"; }
  BatchView take(int64_t /*step*/) override {
    return {batch_.count, image_size_, batch_.images.data(), batch_.labels.data()};
  }
  std::optional<BatchView> ahead() override { return std::nullopt; }
  void done() override { network_.keep_batch(); }
  double take_waited_ms() override { return 0; }

 private:
  Batch batch_;
  int image_size_;
  Network& network_;
};

class LoadedImages final : public BenchImages {
 public:
  LoadedImages(std::unique_ptr<Loader> loader, int image_size, Network& network)
      : loader_(std::move(loader)),
        feed_(*loader_, [&network] { return network.busy(); }, image_size, std::numeric_limits<int64_t>::max()) {}
  const char* kind() const override { return "loaded"; }
  BatchView take(int64_t step) override { return feed_.take(step); }
  std::optional<BatchView> ahead() override { return feed_.ahead(); }
  void done() override { feed_.done(); }
  double take_waited_ms() override { return feed_.take_waited_ms(); }

 private:
  std::unique_ptr<Loader> loader_;
  BatchFeed feed_;
};

}  // namespace

// The loader ends here: it would draw more images beside the steps.
std::unique_ptr<BenchImages> fixed_images(std::unique_ptr<Loader> loader, int image_size, Network& network) {
  return std::make_unique<FixedImages>(*loader, image_size, network);
}

std::unique_ptr<BenchImages> loaded_images(std::unique_ptr<Loader> loader, int image_size, Network& network) {
  return std::make_unique<LoadedImages>(std::move(loader), image_size, network);
}

}  // namespace trainyard
