#include "trainer/data/prepare/prep_together.h"

#include <unistd.h>

#include <array>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "common/error.h"
#include "trainer/data/fetch/download.h"
#include "trainer/data/fetch/upload.h"
#include "trainer/data/prepare/local_sources.h"
#include "trainer/data/prepare/partial_folder.h"
#include "trainer/data/prepare/prep_shards.h"
#include "trainer/data/records/pack.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

class Together {
 public:
  explicit Together(const PrepOptions& options) : options_(options), ranks_(options.ranks) {}

  PrepSummary run() {
    step([this] {
      if (is_first()) begin();
    });
    step([this] {
      if (!folder_)
        folder_.emplace(is_bucket(options_.to) ? own_folder() : PartialFolder::of_another_rank(options_.to));
      const LocalSources sources(rank_options());
      summary_ = prep_shards(sources.options(), *folder_, on_shard());
      sources.done_with();
    });
    add_up();
    step([this] {
      check_whole();
      if (!is_bucket(options_.to)) folder_->finish();
      if (is_bucket(options_.to) && is_first()) put(folder_->path() + "/labels.txt");
    });
    return summary_;
  }

 private:
  bool is_first() const { return ranks_.rank == 0; }

  void begin() {
    if (!is_bucket(options_.to)) {
      folder_.emplace(options_.to);
    } else if (is_uploaded(below("labels.txt"), uploads())) {
      throw Error(Exit::usage, options_.to + " has shards already. Name another place with --to, or remove them");
    }
  }

  PartialFolder own_folder() const {
    const std::string name = "trainyard-prep-" + std::to_string(::getpid()) + "-" + std::to_string(ranks_.rank);
    return PartialFolder((fs::temp_directory_path() / name).string());
  }

  std::string below(const std::string& name) const {
    return options_.to + (options_.to.ends_with('/') ? "" : "/") + name;
  }

  UploadOptions uploads() const { return {options_.s3_endpoint, options_.retry_seconds, options_.note}; }

  void put(const std::string& path) const { upload(path, below(fs::path(path).filename().string()), uploads()); }

  std::function<void(const std::string&)> on_shard() const {
    if (!is_bucket(options_.to)) return {};
    return [this](const std::string& path) {
      put(path);
      fs::remove(path);
    };
  }

  /// Runs this rank's part, and returns when all ranks have done theirs.
  void step(const std::function<void()>& part) {
    std::exception_ptr error;
    try {
      part();
    } catch (...) {
      error = std::current_exception();
    }
    double failed = error ? 1 : 0;
    sum({&failed, 1});
    if (failed == 0) return;
    folder_.reset();
    sum({&failed, 1});  // whoever ends first may take the others along: by now the folder is gone
    if (error) std::rethrow_exception(error);
    throw Error(Exit::data, "another rank could not do its part, and nothing was made. Its own message says why");
  }

  void sum(std::span<double> values) const {
    if (ranks_.world > 1) ranks_.sum(values);
  }

  /// The sums of files are compared once, by rank 0.
  PrepOptions rank_options() const {
    PrepOptions options = options_;
    if (is_bucket(options.to) && options.download_dir.empty()) options.download_dir = folder_->path() + "/download";
    if (is_first()) return options;
    options.sha256.clear();
    for (std::string* source :
         {&options.from, &options.validation_from, &options.labels, &options.label_names, &options.boxes}) {
      if (!source->empty()) *source = read_source(*source).place;
    }
    return options;
  }

  void add_up() {
    own_found_ = summary_.found;
    std::array<double, 6> sums{static_cast<double>(summary_.train_images),
                               static_cast<double>(summary_.validation_images),
                               static_cast<double>(summary_.left_out),
                               static_cast<double>(summary_.bytes),
                               static_cast<double>(own_found_),
                               static_cast<double>(summary_.boxes ? summary_.boxes->images : 0)};
    sum(sums);
    const auto whole = [&](size_t at) { return static_cast<int64_t>(sums[at]); };
    summary_.train_images = whole(0);
    summary_.validation_images = whole(1);
    summary_.left_out = whole(2);
    summary_.bytes = whole(3);
    summary_.found = whole(4);
    if (summary_.boxes) summary_.boxes->images = whole(5);
  }

  void check_whole() {
    const int64_t packed = summary_.train_images + summary_.validation_images + summary_.left_out;
    if (summary_.found != own_found_ * ranks_.world || packed != own_found_) {
      throw Error(Exit::data, "rank " + std::to_string(ranks_.rank) + " finds " + std::to_string(own_found_) +
                                  " images in " + options_.from + ", and others find another number. All ranks need " +
                                  "the same files: put them on a disk that all nodes share, or stage them first");
    }
    summary_.found = own_found_;
    if (!is_first() || is_bucket(options_.to)) return;
    for (const auto& [half, images] :
         {std::pair("train", summary_.train_images), std::pair("validation", summary_.validation_images)}) {
      for (int shard = 0; images > 0 && shard < options_.shards; ++shard) {
        const std::string path = shard_path(folder_->path() + "/" + half, shard, options_.shards);
        std::error_code ignored;
        if (fs::exists(path, ignored)) continue;
        throw Error(Exit::data, path + " was written by another rank, and cannot be seen here. Name a folder with " +
                                    "--to that all nodes see, or use one rank");
      }
    }
  }

  const PrepOptions& options_;
  const PrepRanks& ranks_;
  std::optional<PartialFolder> folder_;
  PrepSummary summary_;
  int64_t own_found_ = 0;
};

}  // namespace

PrepSummary prep_together(const PrepOptions& options) { return Together(options).run(); }

}  // namespace trainyard
