#include "trainer/data/records/record_index.h"

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "common/error.h"
#include "common/files.h"
#include "common/record_frame.h"
#include "trainer/data/records/shards/shard_scan.h"

namespace trainyard {

namespace {

constexpr size_t kMostThreads = 8;  // for a disk's or a network's waiting, not for arithmetic
constexpr auto kBetweenReports = std::chrono::milliseconds(250);

int64_t file_bytes(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) throw file_error("open", path);
  if (!S_ISREG(status.st_mode)) throw Error(Exit::data, path + " is no file. Remove it or name other shards");
  return status.st_size;
}

/// What the threads share.
class Indexer {
 public:
  Indexer(const ShardFiles& files, bool with_boxes) : files_(files), problems_(files.size()), lost_(files.size()) {
    index_.shards.resize(files.size());
    if (with_boxes) index_.boxes.resize(files.size());
    for (size_t i = 0; i < files.size(); ++i) total_ += file_bytes(files.path(i));
  }

  RecordIndex run(const std::function<void(int64_t, int64_t)>& progress) {
    const size_t count = std::min(files_.size(), kMostThreads);
    running_ = count;
    std::vector<std::thread> threads;
    for (size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    try {
      wait(progress);
    } catch (...) {
      stopped_ = true;
      for (std::thread& thread : threads) thread.join();
      throw;
    }
    for (std::thread& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    const auto problem = std::find_if(problems_.begin(), problems_.end(), [](const auto& p) { return !p.empty(); });
    if (problem != problems_.end()) index_.first_problem = *problem;
    for (const auto& shard : lost_) index_.lost.insert(index_.lost.end(), shard.begin(), shard.end());
    estimate_records();
    return std::move(index_);
  }

 private:
  void estimate_records() {
    uint64_t bytes = 0;
    uint64_t records = 0;
    for (const auto& shard : index_.shards) {
      for (const RecordEntry& entry : shard) {
        if (entry.label == RecordEntry::kNoLabel) continue;
        bytes += entry.length + kRecordHeader + kRecordFooter;
        ++records;
      }
    }
    for (LostBytes& lost : index_.lost) {
      const double mean = records > 0 ? static_cast<double>(bytes) / static_cast<double>(records) : 0;
      const double about = mean > 0 ? std::round(static_cast<double>(lost.bytes) / mean) : 1;
      lost.records = static_cast<int64_t>(std::max(about, 1.0));
    }
  }

  void wait(const std::function<void(int64_t, int64_t)>& progress) {
    int64_t before = 0;
    std::unique_lock lock(mutex_);
    while (!ended_.wait_for(lock, kBetweenReports, [this] { return running_ == 0; })) {
      lock.unlock();
      const int64_t done = done_;
      if (progress && done > before) progress(done, total_);  // a disk that hangs is no progress
      before = done;
      lock.lock();
    }
  }

  void work() {
    try {
      for (size_t i = next_++; i < files_.size() && !stopped_; i = next_++) scan(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stopped_ = true;
    }
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_one();
  }

  void scan(size_t number) {
    const std::string& path = files_.path(number);
    const auto fd = files_.open(number);
    const uint64_t size = descriptor_bytes(*fd, path);
    ShardScan walk(fd->get(), path, size);
    // Of a compressed shard the walk takes a moment beside the unpacking.
    const double of_file = static_cast<double>(file_bytes(path)) / static_cast<double>(std::max<uint64_t>(size, 1));
    std::vector<RecordEntry>& entries = index_.shards[number];
    std::set<int64_t> known;  // labels met in this shard, so that the lock is rarely needed
    int64_t reported = 0;
    while (auto record = walk.next()) {
      if (!index_.boxes.empty()) index_.boxes[number].add(walk.boxes(*record));
      if (record->problem.empty() && !known.contains(record->label)) {
        meet(walk, *record, number);
        if (record->problem.empty()) known.insert(record->label);  // a damaged record speaks for no class
      }
      const bool usable = record->problem.empty();
      if (record->lost > 0) {
        lost_[number].push_back({record_name(path, record->offset), record->lost, 0, walk.position() == size});
      }
      if (!usable && problems_[number].empty()) {
        problems_[number] = record_name(path, record->offset) + ": " + record->problem;
      }
      entries.push_back({record->offset, static_cast<uint32_t>(record->length),
                         usable ? static_cast<int32_t>(record->label) : RecordEntry::kNoLabel});
      const auto walked = static_cast<int64_t>(static_cast<double>(walk.position()) * of_file);
      done_ += walked - reported;
      reported = walked;
      if (stopped_) return;
    }
    entries.shrink_to_fit();
    if (!index_.boxes.empty()) index_.boxes[number].shrink_to_fit();
  }

  /// Takes a class in, or marks the record as damaged. The first shard that has a class speaks for
  /// it, whichever thread met it first.
  void meet(ShardScan& walk, ScannedRecord& record, size_t shard) {
    {
      const std::lock_guard lock(mutex_);
      const auto known = index_.classes.find(record.label);
      if (known != index_.classes.end() && known->second.shard < shard) return;
    }
    if (!walk.is_sound(record)) {
      record.problem = kDamagedData;
      return;
    }
    const std::string where = record_name(files_.path(shard), record.offset);
    if (record.label <= RecordEntry::kNoLabel || record.label > INT32_MAX) {
      throw Error(Exit::data, "the label " + std::to_string(record.label) + " of " + where +
                                  " is no class. Number the classes from 0 in image/class/label");
    }
    const FirstOfClass first{shard, where, walk.text(record)};
    const std::lock_guard lock(mutex_);
    const auto [known, is_new] = index_.classes.try_emplace(record.label, first);
    if (!is_new && shard < known->second.shard) known->second = first;
    if (static_cast<int64_t>(index_.classes.size()) <= kMostClasses) return;
    throw Error(Exit::data, "the shards have more than " + std::to_string(kMostClasses) + " different labels, " +
                                where + " among them. Number the classes from 0 in image/class/label");
  }

  const ShardFiles& files_;
  std::vector<std::string> problems_;         ///< the first of each shard
  std::vector<std::vector<LostBytes>> lost_;  ///< by shard
  RecordIndex index_;
  int64_t total_ = 0;
  std::atomic<size_t> next_ = 0;
  std::atomic<int64_t> done_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable ended_;
  size_t running_ = 0;
  std::exception_ptr error_;
};

}  // namespace

std::string record_name(const std::string& path, uint64_t offset) {
  return path + " at byte " + std::to_string(offset);
}

RecordIndex index_records(const ShardFiles& files, const std::function<void(int64_t done, int64_t total)>& progress,
                          bool with_boxes) {
  return Indexer(files, with_boxes).run(progress);
}

}  // namespace trainyard
