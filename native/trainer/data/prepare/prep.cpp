#include "trainer/data/prepare/prep.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <mutex>
#include <string_view>
#include <thread>

#include "common/error.h"
#include "common/files.h"
#include "trainer/data/fetch/download.h"
#include "trainer/data/fetch/upload.h"
#include "trainer/data/images/jpeg.h"
#include "trainer/data/pixels/demo_image.h"
#include "trainer/data/prepare/local_sources.h"
#include "trainer/data/prepare/partial_folder.h"
#include "trainer/data/prepare/prep_shards.h"
#include "trainer/data/prepare/prep_together.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kDrawTag = 0x64656d6fULL;
constexpr int kQuality = 90;
constexpr int kMostImages = 100'000;
constexpr int kMostShards = 99'999;  // five digits in a name
constexpr double kDefaultValidation = 0.2;

struct Plan {
  int classes = 0;
  int images = 0;      ///< a class
  int validation = 0;  ///< of which
};

[[noreturn]] void refuse(const std::string& what, const std::string& to_do) {
  throw Error(Exit::usage, what + ". " + to_do);
}

[[noreturn]] void refuse_source(const std::string& from) {
  refuse("'" + from + "' names no source of images",
         "Write demo:CLASSESxIMAGES_EACH with 2 to " + std::to_string(shapes().size()) + " classes and 1 to " +
             std::to_string(kMostImages) +
             " images each, as in demo:5x400, or with --shards a folder of class folders, an archive of them (.tar, "
             ".tar.gz, .tgz) or its address (https://…, s3://…)");
}

Plan read_plan(const PrepOptions& options) {
  const auto most_classes = static_cast<int>(shapes().size());
  const auto number = [](std::string_view text) {
    int value = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
    return end.ec == std::errc() && end.ptr == text.data() + text.size() ? value : 0;
  };
  const std::string_view from = options.from;
  const size_t cross = from.find('x');
  Plan plan;
  if (from.starts_with("demo:") && cross != std::string_view::npos) {
    plan.classes = number(from.substr(5, cross - 5));
    plan.images = number(from.substr(cross + 1));
  }
  if (plan.classes < 2 || plan.classes > most_classes || plan.images < 1 || plan.images > kMostImages) {
    refuse_source(options.from);
  }
  const double validation = options.validation.value_or(kDefaultValidation);
  plan.validation = std::min(static_cast<int>(std::lround(plan.images * validation)), plan.images - 1);
  return plan;
}

void check_ranks(const PrepOptions& options) {
  const std::string ranks = std::to_string(options.ranks.world) + " ranks make ";
  if (options.shards == 0 || options.from.starts_with("demo:")) {
    refuse(ranks + "TFRecord shards only, of images that are there", "Use one rank");
  }
  for (const std::string* source :
       {&options.from, &options.validation_from, &options.labels, &options.label_names, &options.boxes}) {
    if (!is_address(read_source(*source).place)) continue;
    refuse(ranks + "shards of what all of them see, and nothing is downloaded", "Download " + *source + " first");
  }
}

void check_bucket(const PrepOptions& options) {
  if (!is_bucket(options.to)) refuse("nothing can be written to " + options.to, "Name a folder, or s3://BUCKET/PREFIX");
  if (options.shards > 0 && !options.from.starts_with("demo:")) return;
  refuse("a bucket takes TFRecord shards only, of images that are there", "Name a folder with --to");
}

void check(const PrepOptions& options) {
  if (options.validation && !(*options.validation >= 0 && *options.validation < 1)) {
    refuse("the validation fraction is not in 0 to 1", "Set --validation to 0 or more and less than 1");
  }
  if (options.image_size < 16 || options.image_size > 1024) {
    refuse("the image size is not in 16 to 1024", "Set --image-size to something between, as 64");
  }
  if (options.shards < 0 || options.shards > kMostShards) {
    refuse("the number of shards is not in 0 to " + std::to_string(kMostShards), "Correct --shards");
  }
  if (!(options.retry_seconds >= 0)) {
    refuse("the time until a download is given up is below 0", "Set --retry-seconds to 0 or more");
  }
  if (options.ranks.world > 1) check_ranks(options);
  if (is_address(options.to)) check_bucket(options);
  if (options.from.starts_with("demo:")) {
    if (!options.validation_from.empty() || !options.labels.empty() || !options.sha256.empty()) {
      refuse("images that are drawn have labels and a validation half already",
             "Leave --validation-from, --labels and --sha256 out");
    }
    if (!options.boxes.empty()) refuse("images that are drawn have no bounding boxes", "Leave --boxes out");
    read_plan(options);
    return;
  }
  std::error_code ignored;
  const std::string place = read_source(options.from).place;
  if (!is_address(place) && !fs::exists(place, ignored)) refuse_source(options.from);
  const std::string boxes = read_source(options.boxes).place;
  if (!boxes.empty() && !is_address(boxes) && !fs::exists(boxes, ignored)) {
    refuse("--boxes " + boxes + " does not exist", "Name ILSVRC2012_bbox_train_v2.tar.gz, or another source of boxes");
  }
  if (options.shards == 0) refuse(place + " can only be made TFRecord shards of", "Add --shards N");
}

/// Draws and writes all images on several threads, stopping at the first error.
class Writer {
 public:
  Writer(const PrepOptions& options, const Plan& plan, const PartialFolder& folder, const std::string& below)
      : options_(options), plan_(plan) {
    for (int i = 0; i < plan.classes; ++i) {
      const std::string& name = shapes()[static_cast<size_t>(i)].name;
      train_.push_back(folder.make(below + "train/" + name));
      validation_.push_back(plan.validation > 0 ? folder.make(below + "validation/" + name) : std::string());
    }
  }

  int64_t run() {
    int threads = options_.threads > 0 ? options_.threads : static_cast<int>(std::thread::hardware_concurrency());
    threads = std::clamp(threads, 1, 64);
    std::vector<std::thread> workers;
    for (int i = 0; i < threads; ++i) workers.emplace_back([this] { work(); });
    for (std::thread& worker : workers) worker.join();
    if (error_) std::rethrow_exception(error_);
    return bytes_;
  }

 private:
  int64_t total() const { return int64_t{plan_.classes} * plan_.images; }

  void work() {
    try {
      for (int64_t i = next_++; i < total() && !stopped_; i = next_++) {
        const auto bytes =
            static_cast<int64_t>(write(static_cast<int>(i % plan_.classes), static_cast<int>(i / plan_.classes)));
        const std::lock_guard lock(mutex_);
        bytes_ += bytes;
        ++done_;
        if (options_.progress) options_.progress(done_, total());
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stopped_ = true;
    }
  }

  size_t write(int shape, int number) const {
    const auto index = static_cast<size_t>(shape);
    const int train = plan_.images - plan_.validation;
    char name[32];
    std::snprintf(name, sizeof(name), "%04d.jpg", number < train ? number + 1 : number - train + 1);
    const std::string path = (number < train ? train_[index] : validation_[index]) + name;
    Random random({options_.seed, static_cast<uint64_t>(shape), static_cast<uint64_t>(number), kDrawTag});
    const std::string bytes = encode_jpeg(draw_demo_image(shapes()[index], options_.image_size, random), kQuality);
    const Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    if (!fd) throw file_error("create", path);
    write_all(fd.get(), bytes, path);
    return bytes.size();
  }

  const PrepOptions& options_;
  const Plan plan_;
  std::vector<std::string> train_;
  std::vector<std::string> validation_;
  std::atomic<int64_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  int64_t done_ = 0;
  int64_t bytes_ = 0;
  std::exception_ptr error_;
};

PrepSummary draw(const PrepOptions& options, const PartialFolder& folder, const std::string& below) {
  const Plan plan = read_plan(options);
  PrepSummary summary;
  summary.bytes = Writer(options, plan, folder, below).run();
  for (int i = 0; i < plan.classes; ++i) summary.class_names.push_back(shapes()[static_cast<size_t>(i)].name);
  std::sort(summary.class_names.begin(), summary.class_names.end());
  summary.validation_images = int64_t{plan.classes} * plan.validation;
  summary.train_images = int64_t{plan.classes} * plan.images - summary.validation_images;
  return summary;
}

PrepSummary make(const PrepOptions& options, const PartialFolder& folder) {
  if (options.shards == 0) return draw(options, folder, "");
  if (!options.from.starts_with("demo:")) {
    LocalSources sources(options);
    const PrepSummary summary = prep_shards(sources.options(), folder);
    sources.done_with();
    return summary;
  }
  // The images are drawn into class folders first, so that both ways hold the same ones.
  draw(options, folder, "images/");
  PrepOptions drawn = options;
  drawn.from = folder.path() + "/images";
  drawn.validation.reset();
  const PrepSummary summary = prep_shards(drawn, folder);
  folder.remove("images");
  return summary;
}

PrepSummary prep_alone(const PrepOptions& options) {
  PartialFolder folder(options.to);
  PrepSummary summary = make(options, folder);
  folder.finish();
  return summary;
}

}  // namespace

PrepSummary prep(const PrepOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  check(options);
  const bool together = options.ranks.world > 1 || is_bucket(options.to);
  PrepSummary summary = together ? prep_together(options) : prep_alone(options);
  summary.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return summary;
}

}  // namespace trainyard
