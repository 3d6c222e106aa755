#include "trainer/ops/cuda/library/loaded/nccl_collectives.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "common/error.h"
#include "trainer/ops/cuda/library/cudnn/handles.h"
#include "trainer/ops/cuda/library/loaded/nccl_api.h"
#include "trainer/ops/cuda/math/elementwise.h"
#include "trainer/ops/cuda/watched_wait.h"

namespace trainyard::cuda {

#ifdef TRAINYARD_NCCL

namespace {

class NcclCollectives final : public WatchedCollectives {
 public:
  NcclCollectives(const GroupMember& member, const DeviceGroup& group)
      : launcher_(member.launcher),
        allocate_(member.allocate),
        drop_recordings_(member.drop_recordings),
        group_(group),
        api_(load_nccl_api(launcher_)),
        stream_(make_stream(launcher_)),
        produced_(make_event(launcher_, cudaEventDisableTiming)),
        summed_(make_event(launcher_, cudaEventDisableTiming)),
        asked_(make_event(launcher_, cudaEventDefault)),
        went_on_(make_event(launcher_, cudaEventDefault)) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;  // so that a rank that never comes is noticed here
    ncclUniqueId id{};
    std::memcpy(&id, group.id.data(), sizeof(id));
    settle(api_.comm_init_rank_config(&comm_, group.world, id, group.rank, &config), "ncclCommInitRankConfig");
  }

  ~NcclCollectives() override {
    if (comm_ == nullptr) return;
    // What others still want of this rank is sent before it goes.
    std::string why;
    if (api_.comm_finalize(comm_) != ncclSuccess) why = wait_or_say_why(group_, {ready(), failure()});
    if (why.empty()) {
      (void)api_.comm_destroy(comm_);
    } else {
      std::fprintf(stderr, "trainer: warning: %s\n", why.c_str());
      end(why);
    }
  }
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  std::unique_ptr<SumPlace> prepare(float* values, size_t count) override {
    if (!group_.narrow_sums) return std::make_unique<Registered>(*this, values, count * sizeof(float));
    return std::make_unique<NarrowPlace>(*this, values, count);
  }
  void start_sum(float* values, size_t count) override {
    if (group_.narrow_sums) return start_narrow_sum(values, count);
    follow_ops();
    settle(api_.all_reduce(values, values, count, ncclFloat32, ncclSum, comm_, stream_.get()), "ncclAllReduce");
  }
  void start_broadcast(float* values, size_t count, int root) override {
    follow_ops();
    settle(api_.broadcast(values, values, count, ncclFloat32, root, comm_, stream_.get()), "ncclBroadcast");
  }

  void sum(double* values, size_t count) override {
    require_member();
    settle(api_.all_reduce(values, values, count, ncclFloat64, ncclSum, comm_, launcher_.stream), "ncclAllReduce");
  }

  void wait() override {
    take_last_wait();
    check(launcher_, cudaEventRecord(asked_.get(), launcher_.stream), "cudaEventRecord");
    check(launcher_, cudaEventRecord(summed_.get(), stream_.get()), "cudaEventRecord");
    check(launcher_, cudaStreamWaitEvent(launcher_.stream, summed_.get(), 0), "cudaStreamWaitEvent");
    check(launcher_, cudaEventRecord(went_on_.get(), launcher_.stream), "cudaEventRecord");
    timed_ = true;
  }

  double take_waited_ms() override {
    take_last_wait();
    return std::exchange(waited_ms_, 0.0);
  }

  void abandon() override {
    if (comm_ != nullptr) end("an error ended this rank");
  }

  void watch(const std::function<bool()>& done) override {
    const std::string why = wait_or_say_why(group_, {done, failure()});
    if (!why.empty()) fail(why);
  }

 private:
  /// Memory in which NCCL sums as it is, without copies through its own. Where it does not, a line on
  /// stderr says so, and sums are the same.
  class Registered final : public SumPlace {
   public:
    Registered(NcclCollectives& group, void* memory, size_t bytes) : group_(group) {
      const std::string why = group_.enlist(memory, bytes, handle_);
      if (why.empty() || group_.group_.rank != 0) return;
      std::fprintf(stderr, "trainer: note: sums go through NCCL's own memory (%s)\n", why.c_str());
    }
    ~Registered() override { group_.discharge(handle_); }
    Registered(const Registered&) = delete;
    Registered& operator=(const Registered&) = delete;
    size_t bytes() const override { return 0; }

   private:
    NcclCollectives& group_;
    void* handle_ = nullptr;
  };

  /// Numbers to be summed, and where they travel as bf16.
  struct Narrow {
    size_t count;
    BFloat16* at;
  };
  using Narrows = std::map<const float*, Narrow>;  ///< by where the numbers lie

  /// Of gradients, at every step the same: nothing may write it before wait().
  class NarrowPlace final : public SumPlace {
   public:
    NarrowPlace(NcclCollectives& group, const float* values, size_t count)
        : all_(group.narrow_),
          values_(values),
          memory_(group.allocate_(count * sizeof(BFloat16))),
          registered_(group, memory_->data(), memory_->bytes()) {
      all_[values_] = {count, reinterpret_cast<BFloat16*>(memory_->data())};
    }
    ~NarrowPlace() override { all_.erase(values_); }
    NarrowPlace(const NarrowPlace&) = delete;
    NarrowPlace& operator=(const NarrowPlace&) = delete;
    size_t bytes() const override { return memory_->bytes(); }

   private:
    Narrows& all_;
    const float* values_;
    std::unique_ptr<BackendMemory> memory_;
    Registered registered_;  ///< goes before the memory
  };

  /// "" where NCCL sums in this memory as it is; else why not.
  std::string enlist(void* memory, size_t bytes, void*& handle) {
    if (bytes == 0) return "";
    if (api_.comm_register == nullptr) return "this NCCL is older than 2.19.1";
    const ncclResult_t result = api_.comm_register(comm_, memory, bytes, &handle);
    if (result == ncclSuccess) return "";
    handle = nullptr;
    return "ncclCommRegister: " + words(result);
  }

  /// No sum may be under way in what goes. Nothing is left of a group that was given up.
  void discharge(void* handle) {
    if (comm_ == nullptr || handle == nullptr) return;
    const std::string why =
        wait_or_say_why(group_, {[this] { return cudaStreamQuery(stream_.get()) != cudaErrorNotReady; }, failure()});
    if (!why.empty()) {
      std::fprintf(stderr, "trainer: warning: %s\n", why.c_str());
      return end(why);
    }
    (void)api_.comm_deregister(comm_, handle);
  }

  /// Rounded before, on the ops' stream; widened behind the sum, on the collectives'. NCCL adds bf16
  /// as it does: in fp32, rounded where it is passed on.
  void start_narrow_sum(float* values, size_t count) {
    BFloat16* narrow = place_of(values, count);
    each(launcher_, count, Round<BFloat16>{values, narrow});
    follow_ops();
    settle(api_.all_reduce(narrow, narrow, count, ncclBfloat16, ncclSum, comm_, stream_.get()), "ncclAllReduce");
    each(Launcher{stream_.get(), launcher_.fail}, count, Widen<BFloat16>{narrow, values});
  }

  BFloat16* place_of(const float* values, size_t count) {
    auto found = narrow_.upper_bound(values);
    if (found != narrow_.begin()) {
      const auto& [begin, place] = *--found;
      const auto first = static_cast<size_t>(values - begin);
      if (first + count <= place.count) return place.at + first;
    }
    launcher_.fail(static_cast<int>(Exit::internal), "Numbers were not made ready for a sum as bf16. Report it", false);
    return nullptr;
  }

  void require_member() {
    if (comm_ == nullptr) fail(group_.who + " has left the group. Start again with --resume auto");
  }

  /// What starts now on the stream of the collectives comes after the ops run so far, and after no
  /// later ones.
  void follow_ops() {
    require_member();
    check(launcher_, cudaEventRecord(produced_.get(), launcher_.stream), "cudaEventRecord");
    check(launcher_, cudaStreamWaitEvent(stream_.get(), produced_.get(), 0), "cudaStreamWaitEvent");
  }

  /// A call of a communicator that does not block may go on by itself; the next call must wait for
  /// that.
  void settle(ncclResult_t result, const char* call) {
    if (result == ncclSuccess) return;
    if (result == ncclInProgress) return watch(ready());
    fail(group_.who + ": " + call + ": " + words(result) + ". " + advice(result), is_worth_retrying(result));
  }

  ncclResult_t state() const {
    ncclResult_t state = ncclSuccess;
    const ncclResult_t asked = api_.comm_get_async_error(comm_, &state);
    return asked == ncclSuccess ? state : asked;
  }
  std::function<bool()> ready() const {
    return [this] { return state() == ncclSuccess; };
  }
  /// NCCL knows nothing of a group that was left: what is waited for is the device's own work then.
  std::function<std::string()> failure() const {
    return [this]() -> std::string {
      if (comm_ == nullptr) return "";
      const ncclResult_t now = state();
      return now == ncclSuccess || now == ncclInProgress ? "" : words(now);
    };
  }

  std::string words(ncclResult_t result) const {
    const std::string more = api_.get_last_error(comm_);
    return std::string("NCCL: ") + api_.get_error_string(result) + (more.empty() ? "" : " (" + more + ")");
  }
  static std::string advice(ncclResult_t result) {
    if (result == ncclInvalidUsage) return "Give every rank a GPU of its own, or use --comm mpi";
    if (result == ncclRemoteError) return "See the other ranks' logs, and start again with --resume auto";
    return "Start again with NCCL_DEBUG=WARN and --resume auto; if it comes back, use --comm mpi and report it";
  }

  /// Another rank, a link or a GPU failed; only wrong arguments are the same the next time.
  static bool is_worth_retrying(ncclResult_t result) {
    return result != ncclInvalidUsage && result != ncclInvalidArgument;
  }

  void fail(const std::string& why, bool worth_retrying = true) {
    if (comm_ != nullptr) end(why);
    launcher_.fail(static_cast<int>(Exit::device), why.c_str(), worth_retrying);
  }
  /// Whatever is on the stream ends by itself then, so that memory can be freed.
  void end(const std::string& why) {
    drop_recordings_();
    give_up(group_, why, [abort = api_.comm_abort, comm = std::exchange(comm_, nullptr)] { (void)abort(comm); });
  }

  void take_last_wait() {
    if (!timed_ || cudaEventQuery(went_on_.get()) != cudaSuccess) return;
    float milliseconds = 0;
    check(launcher_, cudaEventElapsedTime(&milliseconds, asked_.get(), went_on_.get()), "cudaEventElapsedTime");
    waited_ms_ += double{milliseconds};
    timed_ = false;
  }

  Launcher launcher_;
  std::function<std::unique_ptr<BackendMemory>(size_t)> allocate_;
  std::function<void()> drop_recordings_;
  DeviceGroup group_;
  NcclApi api_;
  Stream stream_;
  Event produced_;         ///< on the ops' stream: what a collective reads is there
  Event summed_;           ///< on the collectives' stream: all that was started is done
  Event asked_, went_on_;  ///< on the ops' stream, around its wait for that
  ncclComm_t comm_ = nullptr;
  Narrows narrow_;
  bool timed_ = false;  ///< asked_ and went_on_ are of a wait that is not counted yet
  double waited_ms_ = 0;
};

}  // namespace

std::unique_ptr<WatchedCollectives> join_nccl(const GroupMember& member, const DeviceGroup& group) {
  return std::make_unique<NcclCollectives>(member, group);
}

#else

std::unique_ptr<WatchedCollectives> join_nccl(const GroupMember& member, const DeviceGroup& /*group*/) {
  nccl_version(member.launcher);  // which says what is missing
  return nullptr;
}

#endif

}  // namespace trainyard::cuda
