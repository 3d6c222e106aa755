#include <memory>

#include "trainer/cli/flags/device_flags.h"
#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/verbs.h"
#include "trainer/train/evaluate/evaluator.h"

namespace trainyard {

Verb add_eval(CLI::App& app) {
  CLI::App* command = app.add_subcommand("eval", "evaluate a run's checkpoints, beside training or once");
  auto o = std::make_shared<EvalOptions>();
  command->add_option("--run-dir", o->run_dir, "the run whose checkpoints are evaluated; results go there too")
      ->required();
  command
      ->add_option(
          "--data", o->data,
          "class folders or TFRecord shards with the classes of the training data; of a folder with several kinds of "
          "shards the validation ones")
      ->required();
  command
      ->add_option("--label-offset", o->label_offset,
                   "subtracted from the labels in TFRecord shards (default: as in training)")
      ->transform(label_offset_range());
  command->add_option("--interval", o->interval, "seconds between looks for a newer checkpoint")
      ->transform(number(0.01, 86400))
      ->capture_default_str();
  command->add_option("--delay", o->delay, "seconds before the first look")
      ->transform(number(0, 86400))
      ->capture_default_str();
  auto* once = command->add_flag("--once", o->once, "evaluate the newest valid checkpoint (or --checkpoint) and end");
  command->add_option("--checkpoint", o->checkpoint, "a checkpoint folder")->needs(once);
  command->add_option("--threads", o->threads, "compute threads")->transform(threads_range())->capture_default_str();
  add_device_flags(*command, o->device, o->precision);
  command->add_option("--batch-size", o->batch_size, "images at a time")
      ->transform(batch_range())
      ->capture_default_str();
  return {command, [o] {
            require_device(o->device, o->precision);
            const StopSignals signals;
            return run_evaluator(*o, signals);
          }};
}

}  // namespace trainyard
