#include <algorithm>
#include <filesystem>

#include "common/error.h"
#include "common/hash/crc32c.h"
#include "common/record_frame.h"
#include "trainer/data/images/image.h"
#include "trainer/data/kinds.h"
#include "trainer/data/records/class_names.h"
#include "trainer/data/records/example.h"
#include "trainer/data/records/record_index.h"
#include "trainer/data/records/shards/shard_files.h"
#include "trainer/data/records/shards/shard_names.h"
#include "trainer/data/records/shards/shard_scan.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

/// Says what damaged lengths cost. What is lost counts as images that cannot be read.
void look_at_lost(const std::vector<LostBytes>& lost, const DatasetOptions& options) {
  int64_t records = 0;
  std::string first;
  for (const LostBytes& one : lost) {
    const std::string text = one.where + ": the length of a record is damaged, and " + std::to_string(one.bytes) +
                             " bytes" + (one.to_end ? " up to the end of the shard" : "") + " are lost, about " +
                             std::to_string(one.records) + (one.records == 1 ? " record" : " records");
    if (options.on_note) options.on_note(text);
    if (first.empty()) first = text;
    records += one.records;
  }
  if (records <= options.max_bad_images) return;
  throw Error(Exit::data,
              first +
                  (lost.size() > 1 ? ", and " + std::to_string(lost.size() - 1) + " more such places" : std::string()) +
                  "; about " + std::to_string(records) + " images in all, more than the " +
                  std::to_string(options.max_bad_images) +
                  " that may be unreadable. Copy the shards again, or raise --max-bad-images");
}

class Records : public Dataset {
 public:
  Records(const std::string& folder, const std::vector<std::string>& paths, const DatasetOptions& options)
      : files_(paths) {
    RecordIndex index = index_records(files_, options.progress, options.boxes);
    if (index.classes.empty()) {
      throw Error(Exit::data, index.first_problem.empty()
                                  ? "the shards in " + folder + " hold no record. Check that they were copied whole"
                                  : "no record of the shards in " + folder + " can be used, the first one is " +
                                        index.first_problem +
                                        ". Give shards of tf.train.Example with JPEG or PNG images");
    }
    look_at_lost(index.lost, options);
    RecordClasses classes = name_classes(folder, index.classes, options);
    if (!classes.note.empty() && options.on_note) options.on_note(classes.note);
    names_ = std::move(classes.names);
    shards_ = std::move(index.shards);
    boxes_ = std::move(index.boxes);
    for (auto& shard : shards_) {
      for (RecordEntry& entry : shard) {
        if (entry.label != RecordEntry::kNoLabel) entry.label -= static_cast<int32_t>(classes.offset);
      }
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + shard.size());
    }
  }

  size_t size() const override { return ends_.back(); }
  const std::vector<std::string>& class_names() const override { return names_; }
  int32_t label(size_t index) const override { return entry(index).label; }
  std::string name(size_t index) const override {
    return record_name(files_.path(shard_of(index)), entry(index).offset);
  }
  std::string encoded(size_t index) const override {
    try {
      return read(index);
    } catch (const Error& error) {
      // A descriptor may be stale for good where the shard can be opened anew.
      if (error.retry() == Retry::worthwhile) files_.forget(shard_of(index));
      throw;
    }
  }
  bool pixels(size_t, int, uint8_t*) const override { return false; }
  std::span<const Box> boxes(size_t index) const override {
    if (boxes_.empty()) return {};
    const size_t shard = shard_of(index);
    return boxes_[shard].of(index - first_of(shard));
  }

 private:
  std::string read(size_t index) const;
  size_t shard_of(size_t index) const {
    return static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
  }
  const RecordEntry& entry(size_t index) const {
    const size_t shard = shard_of(index);
    return shards_[shard][index - first_of(shard)];
  }
  size_t first_of(size_t shard) const { return shard == 0 ? 0 : ends_[shard - 1]; }
  [[noreturn]] void explain(size_t shard, const RecordEntry& entry) const;

  ShardFiles files_;
  std::vector<std::vector<RecordEntry>> shards_;
  std::vector<BoxLists> boxes_;  ///< likewise, or empty
  std::vector<size_t> ends_;     ///< of each shard's records, in the data set
  std::vector<std::string> names_;
};

/// The reason is looked for anew rather than kept: damaged records are few, but each could have a
/// long one.
void Records::explain(size_t shard, const RecordEntry& entry) const {
  const auto fd = files_.open(shard);
  ShardScan scan(fd->get(), files_.path(shard), descriptor_bytes(*fd, files_.path(shard)), entry.offset);
  auto record = scan.next();
  if (record && !boxes_.empty()) scan.boxes(*record);
  if (record && !record->problem.empty()) throw BadImage(record->problem);
  if (record && !scan.is_sound(*record)) throw BadImage(kDamagedData);
  throw BadImage("the shard was changed while it was in use");
}

/// Throws BadImage for bytes that are no sound record, file_error where they could not be read.
std::string Records::read(size_t index) const {
  const size_t shard = shard_of(index);
  const RecordEntry& at = entry(index);
  if (at.label == RecordEntry::kNoLabel) explain(shard, at);
  const auto fd = files_.open(shard);
  std::string bytes(kRecordHeader + at.length + kRecordFooter, '\0');
  const size_t got = read_at(fd->get(), at.offset, bytes.data(), bytes.size(), files_.path(shard));
  const std::string_view all = bytes;
  const std::string_view data = all.substr(kRecordHeader, at.length);
  if (got != bytes.size() || record_length(all.substr(0, kRecordHeader)) != at.length ||
      !is_footer_of(all.substr(kRecordHeader + at.length), crc32c(data))) {
    explain(shard, at);
  }
  MemoryBytes source(data);
  const ExampleFields fields = read_example(source, {0, data.size()});
  if (!fields.image) explain(shard, at);
  return bytes.substr(kRecordHeader + static_cast<size_t>(fields.image->begin),
                      static_cast<size_t>(fields.image->size()));
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
       entries.increment(error)) {
    std::error_code unreadable;
    if (!entries->is_directory(unreadable)) files.push_back(entries->path().filename().string());
  }
  return error ? std::vector<std::string>() : files;
}

struct Place {
  std::string folder;
  std::string wanted;  ///< how the names of the shards meant begin; empty: by split
};

Place place_of(const std::string& spec) {
  std::string path = spec;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::error_code error;
  if (fs::is_directory(path, error)) return {path, ""};
  const fs::path split = path;
  return {split.has_parent_path() ? split.parent_path().string() : ".", split.filename().string()};
}

}  // namespace

bool is_records(const std::string& spec) {
  const Place place = place_of(spec);
  const auto files = files_in(place.folder);
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    return is_shard_name(file) && (place.wanted.empty() || names_shard(place.wanted, file));
  });
}

std::unique_ptr<Dataset> open_records(const std::string& spec, const DatasetOptions& options) {
  const Place place = place_of(spec);
  std::vector<std::string> paths = choose_shards(place.folder, files_in(place.folder), options.split, place.wanted);
  for (std::string& path : paths) path.insert(0, place.folder + "/");
  return std::make_unique<Records>(place.folder, paths, options);
}

}  // namespace trainyard
