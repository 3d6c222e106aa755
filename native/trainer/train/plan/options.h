// What the command line asks of the verbs, after parsing. Defaults here are the ones `--help`
// shows.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/batch_size.h"
#include "trainer/data/source.h"
#include "trainer/optim/optimizer.h"
#include "trainer/strategies/team.h"

namespace trainyard {

struct TrainOptions {
  std::string model = "resnet20";
  std::string data;
  std::optional<int64_t> label_offset;  ///< subtracted from the labels in TFRecord shards
  std::string eval_data;
  std::string eval_on = "head";  ///< by the evaluator, a process of its own; or ranks: by all ranks
  std::string run_dir;
  std::string device = "cpu";
  std::string precision = "fp32";
  bool memory_growth = false;
  bool no_cuda_graphs = false;
  std::string tune;  ///< "": see tune_on()
  std::string comm = "auto";
  StrategyOptions strategy{};
  int batch_size = kUsualBatchSize;  ///< per replica and micro-batch
  int accumulate = 1;                ///< micro-batches a step
  double clip_norm = 0;              ///< 0: no clipping
  double ema = 0;                    ///< decay of the weights' moving average; 0: none is kept
  int64_t ema_every = 32;            ///< steps between two weights that count
  double label_smoothing = 0;
  std::optional<double> dropout;  ///< left out: the model's own
  int64_t early_stop = 0;         ///< evaluations without a better top-1 that end the run; 0: never
  int planned_ranks = 0;  ///< ranks (workers and servers) that batch_size and lr are meant for; 0: as many as there are
  int64_t steps = 0;      ///< 0: by epochs
  double epochs = 10;
  OptimizerOptions optimizer{};
  std::optional<double> lr;  ///< left out: the optimizer's own
  bool lr_scale_by_world = false;
  double warmup_epochs = 0;
  std::string lr_schedule = "cosine";  ///< cosine, poly, step
  std::vector<double> lr_steps;        ///< epochs at which `step` drops; empty: default_drops
  int64_t checkpoint_every = 0;        ///< steps; 0: once an epoch
  int keep = 5;
  std::string resume = "auto";
  std::string init_weights;
  std::string augment = "standard";
  double min_object_covered = 0;  ///< of one of an image's boxes, by a random crop; 0: boxes are not looked at
  double random_erasing = 0;
  Mixing mixing{};
  int repeated_augmentation = 1;  ///< views that an epoch has of each of its images
  std::string cache = "none";
  std::string jpeg_decoder = "cpu";
  int64_t shuffle_buffer = 0;  ///< 0: each epoch is mixed whole
  int prefetch = 4;
  int64_t max_bad_images = 100;
  double retry_seconds = 60;  ///< for how long an image is read again while its disk fails
  int image_size = 0;         ///< 0: the model's own
  int eval_image_size = 0;    ///< 0: as image_size
  int eval_resize = 0;        ///< 0: 256/224 of eval_image_size
  bool sync_batch_norm = false;
  int threads = 0;         ///< 0: OMP_NUM_THREADS, else this host's cores shared by its ranks
  int loader_threads = 0;  ///< 0: see decoding_threads()
  uint64_t seed = 1;
  int64_t log_every = 10;
};

struct EvalOptions {
  std::string run_dir;
  std::string data;
  std::optional<int64_t> label_offset;  ///< nothing: as the checkpoint's training had it
  double interval = 10;                 ///< seconds
  double delay = 0;                     ///< seconds before the first look
  bool once = false;
  std::string checkpoint;  ///< with once: this one instead of the newest valid
  int threads = 1;
  int batch_size = 50;
  std::string device = "cpu";
  std::string precision = "fp32";
};

struct PredictOptions {
  std::string checkpoint;
  std::string data;
  std::optional<int64_t> label_offset;  ///< as in EvalOptions
  std::string out;
  int threads = 0;
  int batch_size = 50;
  std::string device = "cpu";
  std::string precision = "fp32";
  bool logits = false;  ///< one more column per class, for comparing with other frameworks
};

struct BenchInputOptions {
  std::string data;
  int image_size = 224;
  double seconds = 3;
  std::string augment = "standard";
  double random_erasing = 0;
  Mixing mixing{};
  bool whole = false;  ///< decode every image whole, as if it were kept
};

struct BenchStepOptions {
  std::string model = "resnet20";
  std::string data = "synthetic";
  std::string comm = "auto";
  std::string precision = "fp32";
  std::string device = "cpu";
  int batch_size = 32;
  bool no_cuda_graphs = false;
  std::string tune;  ///< "": see tune_on()
  std::string jpeg_decoder = "cpu";
  int64_t steps = 30;
  int64_t warmup = 3;
  double seconds = 0;  ///< 0: by steps; else as many steps as fit
  int image_size = 0;
  int threads = 1;
  int loader_threads = 0;  ///< 0: see decoding_threads()
};

}  // namespace trainyard
