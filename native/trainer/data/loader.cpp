#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <unordered_set>
#include <utility>

#include "common/error.h"
#include "trainer/base/random.h"
#include "trainer/data/order.h"
#include "trainer/data/pixels/mixing.h"
#include "trainer/data/reader.h"

namespace trainyard {

namespace {

constexpr uint64_t kMixTag = 0x6d6978ULL;
constexpr int kImagesAtOnce =
    8;  // taken by a thread in one go: few enough to share a batch, many enough to save locking

struct Unreadable {
  size_t index;
  std::string message;
};

/// One step's batch while it is being made.
struct Slot {
  Part part;
  Batch batch;
  int taken = 0;
  int finished = 0;
  bool complete = false;  ///< all images are there, and mixed
  std::vector<Unreadable> unreadable;
  bool unfilled = false;  ///< an image had no stand-in
};

class ThreadedLoader : public Loader {
 public:
  ThreadedLoader(const Dataset& dataset, const LoaderOptions& options)
      : options_(options), order_(dataset.size(), options), state_(dataset, options) {
    options_.prefetch = std::max(options.prefetch, 1);
    options_.threads = std::max(options.threads, 1);
  }

  ~ThreadedLoader() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    state_.stop();
    for (std::thread& thread : threads_) thread.join();
  }

  ThreadedLoader(const ThreadedLoader&) = delete;
  ThreadedLoader& operator=(const ThreadedLoader&) = delete;

  int64_t steps_per_epoch() const override { return order_.steps_per_epoch(); }
  void start(int64_t step) override;
  Batch next(int64_t step) override;
  void recycle(Batch batch) override;

 private:
  void run();
  void work();
  Slot* claim();
  void open_slot();
  void decode(Reader& reader, Slot& slot, int begin, int end);
  void mix(Slot& slot) const;
  void report(const Slot& slot);
  void tell(const std::string& line) const;
  std::string boxes_note() const;

  LoaderOptions options_;
  Order order_;
  ReaderState state_;

  std::mutex mutex_;
  std::condition_variable work_;   ///< there may be images to decode, or it is time to stop
  std::condition_variable ready_;  ///< the first slot may be complete
  std::deque<std::unique_ptr<Slot>> slots_;
  std::vector<Batch> spare_;
  int64_t next_step_ = -1;  ///< of the consumer; -1 before the first
  int64_t open_step_ = 0;   ///< of the next slot
  bool stopping_ = false;
  std::exception_ptr broken_;  ///< what ended a decoding thread, other than an unreadable image

  std::vector<std::thread> threads_;
  // The consumer's own, touched by no other thread.
  std::exception_ptr failure_;
  std::unordered_set<size_t> reported_;
};

void ThreadedLoader::open_slot() {
  auto slot = std::make_unique<Slot>();
  slot->part = order_.part(open_step_++);
  if (!spare_.empty()) {
    slot->batch = std::move(spare_.back());
    spare_.pop_back();
  }
  const auto count = static_cast<size_t>(slot->part.count);
  const auto side = static_cast<size_t>(options_.image_size);
  slot->batch.count = slot->part.count;
  slot->batch.images.resize(count * side * side * 3);
  slot->batch.labels.resize(count);
  slot->batch.indices.resize(count);
  slot->complete = count == 0;
  slots_.push_back(std::move(slot));
  if (count == 0) ready_.notify_one();
}

/// The first slot with images left to decode, a new one if the queue has room, or nothing. Call
/// with the lock held.
Slot* ThreadedLoader::claim() {
  for (const auto& slot : slots_) {
    if (slot->taken < slot->part.count) return slot.get();
  }
  while (slots_.size() < static_cast<size_t>(options_.prefetch)) {
    open_slot();
    if (slots_.back()->part.count > 0) return slots_.back().get();
  }
  return nullptr;
}

void ThreadedLoader::decode(Reader& reader, Slot& slot, int begin, int end) {
  std::vector<Unreadable> unreadable;
  bool unfilled = false;
  const auto pixels = static_cast<size_t>(options_.image_size) * static_cast<size_t>(options_.image_size) * 3;
  for (int i = begin; i < end; ++i) {
    const auto at = static_cast<size_t>(i);
    bool filled = false;
    // More unreadable ones in a row than are allowed end the run anyway, so there is no use in
    // going on.
    const auto most = static_cast<size_t>(std::max<int64_t>(options_.max_bad_images, 0)) + 1;
    for (size_t tries = 0; tries < std::min(slot.part.permutation->size(), most) && !filled; ++tries) {
      const size_t index = slot.part.index(i, tries);
      auto message = reader.read(index, slot.part.view(i), slot.batch.images.data() + at * pixels);
      if (message) {
        unreadable.push_back({index, std::move(*message)});
        continue;
      }
      filled = true;
      slot.batch.indices[at] = index;
      slot.batch.labels[at] = state_.dataset().label(index);
    }
    unfilled = unfilled || !filled;
  }
  if (unreadable.empty()) return;
  const std::lock_guard lock(mutex_);
  std::move(unreadable.begin(), unreadable.end(), std::back_inserter(slot.unreadable));
  slot.unfilled = slot.unfilled || unfilled;
}

void ThreadedLoader::mix(Slot& slot) const {
  Random random({options_.seed, static_cast<uint64_t>(slot.part.epoch), static_cast<uint64_t>(slot.part.place),
                 static_cast<uint64_t>(options_.rank), kMixTag});
  mix_batch(draw_mixture(options_.mixing, options_.image_size, random), options_.image_size, slot.batch);
}

void ThreadedLoader::run() {
  try {
    work();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    broken_ = std::current_exception();
    ready_.notify_one();
  }
}

void ThreadedLoader::work() {
  Reader reader(state_);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    Slot* slot = claim();
    if (slot == nullptr) {
      work_.wait(lock);
      continue;
    }
    const int begin = slot->taken;
    const int end = std::min(begin + kImagesAtOnce, slot->part.count);
    slot->taken = end;
    lock.unlock();
    decode(reader, *slot, begin, end);
    lock.lock();
    slot->finished += end - begin;
    if (slot->finished < slot->part.count) continue;
    if (options_.mixing.any()) {
      lock.unlock();
      mix(*slot);  // nobody else looks at it until it is complete
      lock.lock();
    }
    slot->complete = true;
    ready_.notify_one();
  }
}

void ThreadedLoader::tell(const std::string& line) const {
  if (options_.on_note && !line.empty()) options_.on_note(line);
}

std::string ThreadedLoader::boxes_note() const {
  const Dataset& data = state_.dataset();
  size_t boxed = 0;
  for (size_t i = 0; i < data.size(); ++i) boxed += data.boxes(i).empty() ? 0 : 1;
  return std::to_string(boxed) + " of " + std::to_string(data.size()) +
         " images have bounding boxes; crops of the others are drawn as without --min-object-covered";
}

void ThreadedLoader::start(int64_t step) {
  if (next_step_ >= 0) throw std::logic_error("the loader was started twice");
  const ImageCache* cache = state_.cache();
  if (cache != nullptr && options_.rank == 0 && options_.on_note) {
    tell(cache_forecast(state_.dataset(), state_.shorter_side(), cache->spare(), options_.world));
  }
  if (options_.rank == 0 && options_.min_object_covered > 0) tell(boxes_note());
  next_step_ = step;
  open_step_ = step;
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { run(); });
}

Batch ThreadedLoader::next(int64_t step) {
  if (failure_) std::rethrow_exception(failure_);
  if (next_step_ < 0) start(step);
  if (step != next_step_) {
    throw std::logic_error("the loader was asked for step " + std::to_string(step) + " instead of " +
                           std::to_string(next_step_));
  }
  std::unique_ptr<Slot> slot;
  {
    std::unique_lock lock(mutex_);
    const auto complete = [this] { return !slots_.empty() && slots_.front()->complete; };
    ready_.wait(lock, [&] { return broken_ || complete(); });
    if (!complete()) std::rethrow_exception(broken_);
    slot = std::move(slots_.front());
    slots_.pop_front();
  }
  work_.notify_all();
  ++next_step_;
  try {
    report(*slot);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  if (ImageCache* cache = state_.cache()) tell(cache->summary_once(reported_.size()).value_or(""));
  return std::move(slot->batch);
}

/// Tells of images not told of before, in the order of their index, whichever thread met them
/// first.
void ThreadedLoader::report(const Slot& slot) {
  std::vector<Unreadable> found = slot.unreadable;
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  for (const Unreadable& bad : found) {
    if (!reported_.insert(bad.index).second) continue;
    const std::string path = state_.dataset().name(bad.index);
    if (options_.on_bad_image) options_.on_bad_image(path, bad.message);
    const auto count = static_cast<int64_t>(reported_.size());
    if (count <= options_.max_bad_images) continue;
    throw Error(Exit::data, std::to_string(count) + (count == 1 ? " image" : " images") +
                                " could not be decoded, the last one " + path + " (" + bad.message + "), and only " +
                                std::to_string(options_.max_bad_images) +
                                " may be. Repair or remove it, or raise --max-bad-images");
  }
  if (slot.unfilled) {
    throw NoneReadable("no image of the data set could be decoded, the first one " + state_.dataset().name(0) +
                       ". Check that the files are JPEG or PNG and readable");
  }
}

void ThreadedLoader::recycle(Batch batch) {
  const std::lock_guard lock(mutex_);
  if (spare_.size() < static_cast<size_t>(options_.prefetch)) spare_.push_back(std::move(batch));
}

}  // namespace

std::unique_ptr<Loader> make_loader(const Dataset& dataset, const LoaderOptions& options) {
  return std::make_unique<ThreadedLoader>(dataset, options);
}

}  // namespace trainyard
