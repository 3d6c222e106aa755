#include <unistd.h>

#include <cstdio>
#include <memory>

#include "trainer/cli/verbs.h"
#include "trainer/data/prep.h"

namespace trainyard {

Verb add_prep(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "prep",
      "make a labelled image folder, DIR/train/CLASS/*.jpg and DIR/validation/CLASS/*.jpg, or TFRecord shards, "
      "DIR/train-00000-of-0000N, DIR/validation-00000-of-0000N and DIR/labels.txt");
  auto o = std::make_shared<PrepOptions>();
  command
      ->add_option(
          "--from", o->from,
          "demo:CLASSESxIMAGES_EACH draws shapes (2 to 8 classes), for example demo:5x400; with --shards also a "
          "folder of class folders, or one that has them in train and validation")
      ->required();
  command->add_option("--to", o->to, "the folder to make; must not hold anything yet")->required();
  command->add_option("--validation", o->validation,
                      "the part of each class that validates (default: 0.2, or the halves that --from has)");
  command->add_option("--shards", o->shards, "write so many TFRecord files for each half (0: class folders)")
      ->capture_default_str();
  command->add_flag("--shuffle", o->shuffle,
                    "mix the records of the shards by --seed; otherwise they come class by class, as the folders do");
  command->add_option("--image-size", o->image_size, "pixels a side of drawn images")->capture_default_str();
  command->add_option("--seed", o->seed, "the same seed draws, splits and shuffles alike")->capture_default_str();
  return {command, [o] {
            const bool terminal = ::isatty(STDERR_FILENO) == 1;
            o->progress = [terminal](int64_t done, int64_t total) {
              if (!terminal || (done % 100 != 0 && done != total)) return;
              std::fprintf(stderr, "\r%lld of %lld images%s", static_cast<long long>(done),
                           static_cast<long long>(total), done == total ? "\n" : "");
            };
            o->on_bad_image = [](const std::string& path, const std::string& message) {
              std::fprintf(stderr, "trainer: warning: left out %s: %s\n", path.c_str(), message.c_str());
            };
            const PrepSummary made = prep(*o);
            const std::string shards = o->shards > 0 ? " as " + std::to_string(o->shards) + " shards a half" : "";
            std::printf("%lld training and %lld validation images of %zu classes in %s%s (%.1f MB, %.1f s)\n",
                        static_cast<long long>(made.train_images), static_cast<long long>(made.validation_images),
                        made.class_names.size(), o->to.c_str(), shards.c_str(), static_cast<double>(made.bytes) / 1e6,
                        made.seconds);
            if (made.left_out > 0) std::printf("%lld files left out\n", static_cast<long long>(made.left_out));
            return Exit::ok;
          }};
}

}  // namespace trainyard
