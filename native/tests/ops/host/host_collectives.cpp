#include "tests/ops/host/host_collectives.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "common/error.h"
#include "trainer/ops/cuda/watched_wait.h"
#include "trainer/tensor/dtype.h"

namespace trainyard::test {
namespace {

/// Of a file with holes: what nobody writes takes no room.
constexpr size_t kFile = size_t{1} << 32U;
constexpr size_t kPart = 64;

/// What every rank sees.
struct Shared {
  std::atomic<int> joined;
  std::atomic<bool> left;  ///< a rank gave up
};
static_assert(std::atomic<int>::is_always_lock_free && sizeof(Shared) <= kPart);

void round_to_bf16(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(BFloat16(values[i]));
}

class HostCollectives final : public DeviceCollectives {
 public:
  HostCollectives(const DeviceGroup& group, HostMember member) : group_(group), own_(std::move(member)) {
    const int file = ::open(group.id.data(), O_RDWR | O_CLOEXEC);
    if (file < 0) throw Error(Exit::internal, errno_message(group.id.data()));
    memory_ = static_cast<std::byte*>(::mmap(nullptr, kFile, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    ::close(file);
    if (memory_ == MAP_FAILED) throw Error(Exit::internal, errno_message("mmap"));
    shared().joined += 1;
    watch([this] { return shared().joined == group_.world; });
    if (group_.rank == 0) ::unlink(group.id.data());
  }
  ~HostCollectives() override { ::munmap(memory_, kFile); }
  HostCollectives(const HostCollectives&) = delete;
  HostCollectives& operator=(const HostCollectives&) = delete;

  std::unique_ptr<SumPlace> prepare(float* values, size_t count) override {
    if (!group_.narrow_sums) return nullptr;
    prepared_ = {values, count};
    return std::make_unique<NarrowPlace>(own_.memory.allocate(count * sizeof(BFloat16)));
  }
  void start_sum(float* values, size_t count) override {
    const bool inside = values >= prepared_.data() && values + count <= prepared_.data() + prepared_.size();
    if (group_.narrow_sums && !inside) throw Error(Exit::internal, "a sum as bf16 that nobody prepared");
    start({values, count, 0, -1});
  }
  void start_broadcast(float* values, size_t count, int root) override { start({values, count, 0, root}); }

  void sum(double* values, size_t count) override {
    own_.run([this, values, count] { sum_now(values, count); });
  }
  void wait() override {
    for (const Started& one : std::exchange(started_, {})) {
      watch([&] { return arrived(one) == group_.world; });
      if (one.root >= 0) {
        std::copy_n(part(one, one.root), one.count, one.values);
        continue;
      }
      std::fill_n(one.values, one.count, 0.0F);
      for (int r = 0; r < group_.world; ++r) {
        const float* from = part(one, r);
        for (size_t i = 0; i < one.count; ++i) one.values[i] += from[i];
      }
      if (group_.narrow_sums) round_to_bf16(one.values, one.count);
    }
  }

  double take_waited_ms() override { return 0; }
  void abandon() override {
    cuda::give_up(group_, "an error ended this rank", [this] { shared().left = true; });
  }

 private:
  /// What a device would round to.
  class NarrowPlace final : public SumPlace {
   public:
    explicit NarrowPlace(std::unique_ptr<BackendMemory> memory) : memory_(std::move(memory)) {}
    size_t bytes() const override { return memory_->bytes(); }

   private:
    std::unique_ptr<BackendMemory> memory_;
  };

  struct Started {
    float* values;
    size_t count;
    size_t offset;  ///< in the file: how many have arrived, then [world, count]
    int root;       ///< -1: a sum
  };

  Shared& shared() const { return *reinterpret_cast<Shared*>(memory_); }
  std::atomic<int>& arrived(const Started& one) const { return arrived(one.offset); }
  std::atomic<int>& arrived(size_t offset) const { return *reinterpret_cast<std::atomic<int>*>(memory_ + offset); }
  float* part(const Started& one, int rank) const {
    return reinterpret_cast<float*>(memory_ + one.offset + kPart) + static_cast<size_t>(rank) * one.count;
  }

  /// Room for the numbers of all ranks, behind how many have arrived. Returns where it was.
  size_t take(size_t bytes) {
    const size_t taken = next_;
    next_ += (kPart + static_cast<size_t>(group_.world) * bytes + kPart - 1) / kPart * kPart;
    if (next_ > kFile) throw Error(Exit::internal, "more sums than the tests' file holds");
    return taken;
  }

  /// In the order of the ranks.
  void sum_now(double* values, size_t count) {
    const size_t offset = take(count * sizeof(double));
    auto* parts = reinterpret_cast<double*>(memory_ + offset + kPart);
    std::copy_n(values, count, parts + static_cast<size_t>(group_.rank) * count);
    arrived(offset) += 1;
    watch([&] { return arrived(offset) == group_.world; });
    std::fill_n(values, count, 0.0);
    for (int r = 0; r < group_.world; ++r) {
      for (size_t i = 0; i < count; ++i) values[i] += parts[static_cast<size_t>(r) * count + i];
    }
  }

  void start(Started one) {
    one.offset = take(one.count * sizeof(float));
    std::copy_n(one.values, one.count, part(one, group_.rank));
    if (group_.narrow_sums && one.root < 0) round_to_bf16(part(one, group_.rank), one.count);
    std::fill_n(one.values, one.count, std::numeric_limits<float>::quiet_NaN());
    arrived(one) += 1;
    started_.push_back(one);
  }

  void watch(const std::function<bool()>& done) {
    const std::string why =
        cuda::wait_or_say_why(group_, {done, [this] { return std::string(shared().left ? "a rank has left" : ""); }});
    if (why.empty()) return;
    abandon();
    throw Error(Exit::device, why);
  }

  DeviceGroup group_;
  HostMember own_;
  std::byte* memory_;
  std::span<float> prepared_;
  size_t next_ = kPart;
  std::vector<Started> started_;
};

}  // namespace

DeviceGroupId new_host_group() {
  DeviceGroupId id{};
  const char* folder = ::getenv("TMPDIR");
  std::snprintf(id.data(), id.size(), "%s/trainyard-group-XXXXXX", folder == nullptr ? "/tmp" : folder);
  const int file = ::mkstemp(id.data());
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(kFile)) != 0) {
    throw Error(Exit::internal, errno_message(id.data()));
  }
  ::close(file);
  return id;
}

std::unique_ptr<DeviceCollectives> join_host_group(const DeviceGroup& group, const HostMember& member) {
  return std::make_unique<HostCollectives>(group, member);
}

}  // namespace trainyard::test
