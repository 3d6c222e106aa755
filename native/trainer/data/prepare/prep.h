// `trainer prep`: a labelled image folder that needs no download, and TFRecord shards of such a
// folder, another, or an archive, here or elsewhere.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trainyard {

/// The ranks that make one folder together. All of them see the source and the folder.
struct PrepRanks {
  int rank = 0;
  int world = 1;
  /// Over all ranks, in place; returns once all have called it. Needed from two ranks on.
  std::function<void(std::span<double> values)> sum;
};

struct PrepOptions {
  /// demo:CLASSESxIMAGES_EACH, 2 to 8 classes; with shards also a folder, an archive, or an
  /// archive's address, each perhaps with #sha256=HEX behind it.
  std::string from;
  /// The folder to make; it may exist if it is empty. With shards also s3://BUCKET/PREFIX.
  std::string to;
  /// The part of each class's images that validates, 0 (none) to below 1; nothing: 0.2, or as the
  /// folder has it.
  std::optional<double> validation;
  int image_size = 64;  ///< pixels a side of drawn images, 16 to 1024
  uint64_t seed = 1;
  int threads = 0;              ///< 0: as many as the machine has
  int shards = 0;               ///< TFRecord files of each half; 0: images in class folders
  bool shuffle = false;         ///< with shards: records in an order drawn by the seed instead of class by class
  std::string validation_from;  ///< with shards: a source like `from` for the validation half
  std::string labels;           ///< a file or address: the labels of the images of `validation_from`, else of `from`
  std::string label_names;      ///< a file or address: the names of labels that are numbers
  std::string boxes;            ///< with shards: bounding boxes of the images (box_file.h), a path or an address
  std::string sha256;           ///< of `from`
  std::string download_dir;     ///< where downloads are kept; empty: `to`.download, which is removed at the end
  std::string s3_endpoint;
  double retry_seconds = 300;  ///< of a download, without a new byte, until it gives up
  PrepRanks ranks;             ///< with shards: each rank writes its part of them
  /// Called while archives are downloaded (what: "downloading NAME") and looked through ("reading
  /// PATH"). total: -1 if it is not known.
  std::function<void(const std::string& what, int64_t done, int64_t total)> stage;
  /// Called with what a download meets: trouble that it tries to get over, a password that is sent
  /// in the open.
  std::function<void(const std::string& text)> note;
  /// Images written so far, and how many there will be. Called from the writing threads, one at a
  /// time.
  std::function<void(int64_t done, int64_t total)> progress;
  /// Called likewise for a file that is no readable image and is left out of the shards, and for one
  /// in `boxes` that is no annotation.
  std::function<void(const std::string& path, const std::string& message)> on_bad_image;
};

/// What became of the bounding boxes.
struct BoxSummary {
  int64_t images = 0;         ///< that got some
  int64_t unmatched = 0;      ///< boxes that belong to no image
  int64_t without_area = 0;   ///< boxes that were left out
  int64_t no_annotation = 0;  ///< files that were left out
};

struct PrepSummary {
  std::vector<std::string> class_names;  ///< in the order a data set lists them
  int64_t train_images = 0;
  int64_t validation_images = 0;
  int64_t left_out = 0;             ///< files that are no readable images
  int64_t found = 0;                ///< with shards: files of the source, those left out too
  std::optional<BoxSummary> boxes;  ///< where they were asked for
  int64_t bytes = 0;
  double seconds = 0;
};

/// Writes to/train/<class>/0001.jpg … and to/validation/<class>/0001.jpg …: simple shapes of random
/// place, size, turn, colour and light on cluttered, noisy grounds. Every image depends on seed,
/// class and number only. Of each class round(images * validation) validate, but at least one
/// trains. Works in `to`.partial, which is renamed at the end and removed on failure; one left over
/// from before is removed first. With shards the drawn images, or those of a folder, become
/// TFRecord shards instead (prep_shards.h). Archives are read where they lie; what is downloaded
/// stays in `to`.download when it fails, to go on from. Several ranks write one folder of shards
/// together (prep_together.h), and each summary has the sums over all of them. Throws
/// Error(Exit::usage): a malformed `from`, options out of range, `to` exists and is not an empty
/// folder. Throws Error(Exit::data): a file could not be written (path and reason named), the source
/// holds no class folders, more than 100 of its files are no images; as find_halves, read_boxes and
/// download do; boxes of which none, or the same ones of several, belong to an image.
PrepSummary prep(const PrepOptions& options);

}  // namespace trainyard
