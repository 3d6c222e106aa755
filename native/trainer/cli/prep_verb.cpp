#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <thread>

#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/progress_line.h"
#include "trainer/cli/verbs.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/prepare/prep.h"

namespace trainyard {

namespace {

void add_source_flags(CLI::App& command, PrepOptions& o) {
  command
      .add_option(
          "--from", o.from,
          "demo:CLASSESxIMAGES_EACH draws shapes (2 to 8 classes), for example demo:5x400; with --shards also a folder "
          "of class folders, or one that has them in train and validation, a .tar, .tar.gz or .tgz of such (or of tars "
          "named by their class, as ILSVRC2012_img_train.tar is), or the address of such an archive: http://, https:// "
          "(user and password in TRAINYARD_HTTP_USER and TRAINYARD_HTTP_PASSWORD, or in ~/.netrc with mode 0600) or "
          "s3://BUCKET/KEY (account in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws). #sha256=HEX behind "
          "a path or an address is compared")
      ->required();
  command.add_option("--validation-from", o.validation_from,
                     "the validation images, where they lie apart, as ILSVRC2012_img_val.tar; a source like --from");
  command.add_option(
      "--labels", o.labels,
      "for an archive without class folders (that of --validation-from, else of --from): a file or address with a "
      "label "
      "a line, in the order of the images' names: names of classes, or their numbers from 0 in the order of names");
  command.add_option("--label-names", o.label_names,
                     "for --labels that are other numbers: a file or address with the class of each, a line each");
  command.add_option("--boxes", o.boxes,
                     "with --shards: a file, folder or address with bounding boxes, which the records of their images "
                     "get: ILSVRC2012_bbox_train_v2.tar.gz, another tar or a folder of such XML files, or a list of "
                     "NAME,XMIN,YMIN,XMAX,YMAX lines");
  command.add_option("--sha256", o.sha256, "of the file or address that --from names");
  command.add_option("--download-dir", o.download_dir,
                     "where downloads are kept and found again (default: beside --to, removed at the end)");
  command.add_option("--s3-endpoint", o.s3_endpoint,
                     "an S3 server other than Amazon's, as http://host:9000 (else AWS_ENDPOINT_URL)");
  command.add_option("--retry-seconds", o.retry_seconds, "give up a download when no byte came for so long")
      ->transform(seconds_range())
      ->capture_default_str();
}

void report(PrepOptions& options) {
  const auto line = std::make_shared<ProgressLine>(::isatty(STDERR_FILENO) == 1);
  options.progress = [line](int64_t done, int64_t total) {
    line->show("writing", ProgressLine::Unit::images, done, total);
  };
  options.stage = [line](const std::string& what, int64_t done, int64_t total) {
    line->show(what, ProgressLine::Unit::bytes, done, total);
  };
  options.note = [line](const std::string& text) {
    line->close();
    std::fprintf(stderr, "trainer: %s\n", text.c_str());
  };
  options.on_bad_image = [line](const std::string& path, const std::string& message) {
    line->close();
    std::fprintf(stderr, "trainer: warning: left out %s: %s\n", path.c_str(), message.c_str());
  };
}

/// Among the ranks; those of one machine share its processors.
void share(PrepOptions& options, Communicator& communicator) {
  const auto processors = static_cast<int>(std::thread::hardware_concurrency());
  options.threads = std::max(1, processors / communicator.local_world());
  options.ranks.rank = communicator.rank();
  options.ranks.world = communicator.world();
  options.ranks.sum = [&communicator](std::span<double> values) { communicator.sum(values); };
}

void print(const BoxSummary& boxes) {
  std::printf("%lld images have bounding boxes; %lld boxes match no image\n", static_cast<long long>(boxes.images),
              static_cast<long long>(boxes.unmatched));
  if (boxes.without_area > 0) {
    std::printf("%lld boxes without area left out\n", static_cast<long long>(boxes.without_area));
  }
  if (boxes.no_annotation > 0) {
    std::printf("%lld files of boxes left out\n", static_cast<long long>(boxes.no_annotation));
  }
}

}  // namespace

Verb add_prep(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "prep",
      "make a labelled image folder, DIR/train/CLASS/*.jpg and DIR/validation/CLASS/*.jpg, or TFRecord shards, "
      "DIR/train-00000-of-0000N, DIR/validation-00000-of-0000N and DIR/labels.txt");
  auto o = std::make_shared<PrepOptions>();
  add_source_flags(*command, *o);
  command
      ->add_option("--to", o->to,
                   "the folder to make; must not hold anything yet. With --shards also s3://BUCKET/PREFIX (account as "
                   "for --from); shards lie below TMPDIR until they are there")
      ->required();
  command
      ->add_option("--validation", o->validation,
                   "the part of each class that validates (default: 0.2, or the halves that --from has)")
      ->transform(number(0, 1, End::included, End::left_out));
  command
      ->add_option("--shards", o->shards,
                   "write so many TFRecord files for each half (0: class folders); several ranks "
                   "(trainyard run P --ranks N -- prep …) write them together, in a folder that all see")
      ->transform(whole_number(0, 99'999))
      ->capture_default_str();
  command->add_flag("--shuffle", o->shuffle,
                    "mix the records of the shards by --seed; otherwise they come class by class, as the folders do");
  command->add_option("--image-size", o->image_size, "pixels a side of drawn images")
      ->transform(whole_number(16, 1024))
      ->capture_default_str();
  command->add_option("--seed", o->seed, "the same seed draws, splits and shuffles alike")
      ->transform(seed_range())
      ->capture_default_str();
  return {command, [o] {
            const auto communicator = make_communicator("auto");
            share(*o, *communicator);
            report(*o);
            const PrepSummary made = prep(*o);
            if (communicator->rank() > 0) return Exit::ok;
            const std::string shards = o->shards > 0 ? " as " + std::to_string(o->shards) + " shards a half" : "";
            std::printf("%lld training and %lld validation images of %zu classes in %s%s (%.1f MB, %.1f s)\n",
                        static_cast<long long>(made.train_images), static_cast<long long>(made.validation_images),
                        made.class_names.size(), o->to.c_str(), shards.c_str(), static_cast<double>(made.bytes) / 1e6,
                        made.seconds);
            if (made.boxes) print(*made.boxes);
            if (made.left_out > 0) std::printf("%lld files left out\n", static_cast<long long>(made.left_out));
            return Exit::ok;
          }};
}

}  // namespace trainyard
