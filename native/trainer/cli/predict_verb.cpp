#include <cstdio>
#include <memory>

#include "trainer/cli/flags/device_flags.h"
#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/verbs.h"
#include "trainer/train/evaluate/predict.h"

namespace trainyard {

Verb add_predict(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("predict", "write class, probability and top five of each image as CSV or JSON lines");
  auto o = std::make_shared<PredictOptions>();
  command->add_option("--checkpoint", o->checkpoint, "a checkpoint folder")->required();
  command
      ->add_option("--data", o->data,
                   "a folder of JPEG or PNG files (also in folders below it, of any name), an image, a text file "
                   "with the path of an image a line, or a folder of TFRecord shards")
      ->required();
  command
      ->add_option("--label-offset", o->label_offset,
                   "subtracted from the labels in TFRecord shards (default: as in training)")
      ->transform(label_offset_range());
  command->add_option("--out", o->out, "the file to write: JSON lines where its name ends in .jsonl, else CSV")
      ->required();
  command->add_option("--threads", o->threads, "compute threads (0: one)")
      ->transform(threads_or_own_range())
      ->capture_default_str();
  add_device_flags(*command, o->device, o->precision);
  command->add_option("--batch-size", o->batch_size, "images at a time")
      ->transform(batch_range())
      ->capture_default_str();
  command->add_flag("--logits", o->logits, "one more column per class with its logit");
  return {command, [o] {
            require_device(o->device, o->precision);
            const int64_t images = predict(*o);
            std::printf("%lld images written to %s\n", static_cast<long long>(images), o->out.c_str());
            return Exit::ok;
          }};
}

}  // namespace trainyard
