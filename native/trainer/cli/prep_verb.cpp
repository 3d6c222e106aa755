#include <unistd.h>

#include <cstdio>
#include <memory>

#include "trainer/cli/verbs.h"
#include "trainer/data/prep.h"

namespace trainyard {

Verb add_prep(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("prep", "make a labelled image folder: DIR/train/CLASS/*.jpg and DIR/validation/CLASS/*.jpg");
  auto o = std::make_shared<PrepOptions>();
  command
      ->add_option("--from", o->from, "demo:CLASSESxIMAGES_EACH draws shapes (2 to 8 classes), for example demo:5x400")
      ->required();
  command->add_option("--to", o->to, "the folder to make; must not hold anything yet")->required();
  command->add_option("--validation", o->validation, "the part of each class that validates")->capture_default_str();
  command->add_option("--image-size", o->image_size, "pixels a side")->capture_default_str();
  command->add_option("--seed", o->seed, "the same seed draws the same images")->capture_default_str();
  return {command, [o] {
            const bool terminal = ::isatty(STDERR_FILENO) == 1;
            o->progress = [terminal](int64_t done, int64_t total) {
              if (!terminal || (done % 100 != 0 && done != total)) return;
              std::fprintf(stderr, "\r%lld of %lld images%s", static_cast<long long>(done),
                           static_cast<long long>(total), done == total ? "\n" : "");
            };
            const PrepSummary made = prep(*o);
            std::printf("%lld training and %lld validation images of %zu classes in %s (%.1f MB, %.1f s)\n",
                        static_cast<long long>(made.train_images), static_cast<long long>(made.validation_images),
                        made.class_names.size(), o->to.c_str(), static_cast<double>(made.bytes) / 1e6, made.seconds);
            return Exit::ok;
          }};
}

}  // namespace trainyard
