// Where batches come from: --data SPEC opened as a data set, and a loader that fills batches ahead
// of the training loop.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/base/device_jpeg.h"
#include "trainer/data/boxes.h"

namespace trainyard {

/// Thrown by a loader that found no image that it could decode.
class NoneReadable : public Error {
 public:
  explicit NoneReadable(const std::string& message) : Error(Exit::data, message) {}
};

/// What --data named: a labelled set of images in a fixed order. Immutable, safe to use from many
/// threads.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual size_t size() const = 0;
  virtual const std::vector<std::string>& class_names() const = 0;
  /// The class; without meaning for an image that cannot be read.
  virtual int32_t label(size_t index) const = 0;
  /// A name for messages and predictions: the file's path, or the shard's and where in it.
  virtual std::string name(size_t index) const = 0;
  /// The encoded JPEG or PNG, or, for synthetic data, nothing (then pixels() is used). Throws
  /// BadImage (trainer/data/images/image.h) when there is no such file any more or its bytes are no
  /// record, and Error where the disk or its server failed: what the image is, nobody knows then
  /// (trainer/data/patience.h).
  virtual std::string encoded(size_t index) const = 0;
  /// Raw pixels of synthetic data: [size, size, 3]; false when this set is encoded.
  virtual bool pixels(size_t index, int image_size, uint8_t* out) const = 0;
  /// Where the objects of the image are, as far as that is known and DatasetOptions asked for it.
  virtual std::span<const Box> boxes(size_t /*index*/) const { return {}; }
};

enum class Split { training, evaluation };

/// What a checkpoint says of the data that it was trained on.
struct TrainedData {
  std::vector<std::string> class_names;
  int64_t label_offset = 0;
};

struct DatasetOptions {
  /// Of class folders: called from the opening thread each time some more names were read.
  std::function<void()> listed;
  /// Bounding boxes are read, which only shards have. A set in which no image has one is an error.
  bool boxes = false;
  // For TFRecord shards alone:
  Split split = Split::training;        ///< which shards of a folder that holds several kinds
  std::optional<int64_t> label_offset;  ///< subtracted from labels; nothing: the checkpoint's, else 0
  std::optional<TrainedData> trained;
  int64_t max_bad_images = 100;  ///< more images lost behind damaged lengths than this are an error
  /// Called from the opening thread with lines for people: what is lost, and classes without an
  /// image.
  std::function<void(const std::string& line)> on_note;
  /// Called now and then, from the opening thread, while shards are walked through and only where
  /// that went on: bytes done, and in all.
  std::function<void(int64_t done, int64_t total)> progress;
};

/// Opens `synthetic`, `synthetic:CLASSESxPIXELS`, a folder of TFRecord shards
/// (trainer/data/records), or a folder of class folders (sorted by name; *.jpg, *.jpeg, *.png, any
/// case). Names are sorted by their bytes, hidden ones are skipped. `synthetic` has 5,120 images of
/// 10 classes, drawn at the image size; PIXELS is the side they are drawn at before they are scaled
/// to the image size. Throws Error(Exit::data): folder missing, no class folders, a class without
/// images (named). Throws Error(Exit::usage): an empty spec, a malformed synthetic one, a label
/// offset for what has no labels of its own. Throws Error(Exit::data) too where boxes are asked for and
/// no image has one.
std::unique_ptr<Dataset> open_dataset(const std::string& spec, int image_size, const DatasetOptions& options = {});

enum class Augment { none, standard, trivial };

/// How strongly each image of a batch is mixed with another one of it (pixels/mixing.h): alpha of a
/// distribution Beta(alpha, alpha); 0: not at all. With both, each batch takes one of the two.
struct Mixing {
  double mixup = 0;
  double cutmix = 0;
  bool any() const { return mixup > 0 || cutmix > 0; }
};
constexpr double kMostMixing = 100;  ///< of either; by then nearly all images are halves of two

struct LoaderOptions {
  int image_size = 32;
  int batch = 32;  ///< per rank
  int rank = 0;
  int world = 1;
  uint64_t seed = 1;
  bool shuffle = true;  ///< false: in order, the last batch may be short (evaluation)
  /// How often an epoch has each of its images, when shuffling, one time after the other; above 1
  /// they go to the ranks in turn. 1: once.
  int repeats = 1;
  size_t shuffle_buffer = 0;  ///< images that are drawn from while the set goes by in order; 0: the whole set is mixed
  /// Of encoded images; synthetic ones are drawn as they are.
  Augment augment = Augment::standard;
  /// The part of at least one of an image's bounding boxes that a random crop of it must show
  /// (pixels/augment.h); 0: boxes are not looked at.
  double min_object_covered = 0;
  /// How likely a part of an image is erased, in [0, 1] (trivial_augment.h).
  double random_erasing = 0;
  Mixing mixing{};  ///< of all images, synthetic ones too
  /// With Augment::none: the very pixels of torchvision's Resize and CenterCrop (pil_resize.h), of
  /// images decoded at full size. Training does without, as large JPEGs are decoded shrunk in a
  /// fraction of the time.
  bool as_torchvision = false;
  int resize = 0;      ///< with Augment::none: pixels of the shorter side before the crop (0: pixels/augment.h)
  bool cache = false;  ///< keep decoded images in memory
  /// Decodes JPEGs of the usual kind (plain_jpeg.h), one for each thread; not where there is a
  /// cache.
  MakeDeviceJpeg make_device_jpeg;
  /// How many bytes the cache may still take, now; none: base/spare_memory.h.
  std::function<uint64_t()> spare_memory;
  /// For how long images are read again while their disk or its server fails, from the first
  /// failure of a read.
  double retry_seconds = 60;
  /// Called (from any thread) with lines for people when a read fails so, and when it works again.
  std::function<void(const std::string& line)> on_retry;
  int prefetch = 4;  ///< batches ready ahead of the consumer, at most
  int threads = 1;
  int64_t max_bad_images = 0;  ///< more unreadable images than this end the run
  /// Called (from the consumer's thread, inside next()) once for each image that could not be
  /// decoded.
  std::function<void(const std::string& path, const std::string& message)> on_bad_image;
  /// Called (the same way) with lines for people about the cache: what it will take, what it takes.
  std::function<void(const std::string& line)> on_note;
};

struct Batch {
  int count = 0;
  std::vector<uint8_t> images;  ///< [count, size, size, 3] RGB
  std::vector<int32_t> labels;  ///< [count]
  std::vector<size_t> indices;  ///< [count], in the data set
  // Where images are mixtures of two, `labels` are those with the larger share.
  std::vector<int32_t> other_labels;  ///< [count]; empty where nothing is mixed
  float share = 1;                    ///< of `labels`, in [0.5, 1]; other_labels have the rest
};

/// Batches in an order that depends only on (seed, epoch, world * batch): global batch g of an
/// epoch is images [g*world*batch, (g+1)*world*batch) of that epoch's permutation, and rank r takes
/// its r-th part. So two ranks of batch B see what one rank of batch 2B sees. With `repeats` above
/// 1 each image of the permutation stands there so often in succession, of a global batch rank r
/// takes images r, r + world, …, and an epoch is as long as without: the last images of the
/// permutation are left out. Augmentation is drawn from (seed, epoch, index, repeat), and how a
/// batch is mixed from (seed, epoch, place in the epoch, rank): images of a rank's part with one
/// another. A rest smaller than a global batch is left out of the epoch when shuffling. An
/// unreadable image is replaced by the next readable one of the same permutation, the same on every
/// rank count: going on at the permutation's beginning after its end, with the stand-in's own
/// label, index and augmentation, when shuffling or not. Each rank counts the unreadable images it
/// met. Without shuffling, the last parts of a global batch may be short or empty.
class Loader {
 public:
  virtual ~Loader() = default;
  virtual int64_t steps_per_epoch() const = 0;
  /// Begins with the batch of `step`, which next() is asked for first: while a network is made,
  /// say. Never needed, only sooner. At most once, and not after next(). Calls what next() calls.
  virtual void start(int64_t /*step*/) {}
  /// The batch of global step `step` (0-based, counted over epochs). Steps must be asked for in
  /// rising order by one; the first one asked for is where it starts, so resume is simply asking
  /// for a later first step. Throws Error(Exit::data) when more than max_bad_images were
  /// unreadable, and what reading an image threw after retry_seconds.
  virtual Batch next(int64_t step) = 0;
  /// Hands back a batch that is done with, so that its memory serves a later one. Never needed,
  /// only faster.
  virtual void recycle(Batch /*done*/) {}  // NOLINT(performance-unnecessary-value-param): implementations keep it
};

/// Throws Error(Exit::data) when shuffling and the set is smaller than one global batch, naming the
/// largest batch that fits. The data set must outlive the loader.
std::unique_ptr<Loader> make_loader(const Dataset& dataset, const LoaderOptions& options);

}  // namespace trainyard
