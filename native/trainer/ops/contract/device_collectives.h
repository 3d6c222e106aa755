// Sums and copies among the memories of several ranks' devices, beside the ops.
#pragma once
#include <cstddef>
#include <memory>

namespace trainyard {

/// Memory that is ready for sums of what lies in it. Goes before that memory, and before the
/// collectives.
class SumPlace {
 public:
  virtual ~SumPlace() = default;
  /// Of the device's memory that it took.
  virtual size_t bytes() const = 0;
};

/// Every rank of a group calls the same functions in the same order. Whoever waits for ranks that
/// do not come, or learns that the collectives failed, throws Error(Exit::device) when the group's
/// deadline is over: in a wait of the back end or in one of these.
class DeviceCollectives {
 public:
  virtual ~DeviceCollectives() = default;
  /// Makes values[0, count) ready for sums of parts of it. Sums that travel as bf16 need it. nullptr
  /// where there is nothing to do.
  virtual std::unique_ptr<SumPlace> prepare(float* values, size_t count) = 0;
  /// Starts the sum over all ranks of values[0, count), fp32 in the back end's memory, in place. It
  /// comes after the ops run so far and beside those run later, which must leave `values` alone
  /// until wait(). Every rank gets the same bits.
  virtual void start_sum(float* values, size_t count) = 0;
  /// As start_sum, but everyone gets root's values.
  virtual void start_broadcast(float* values, size_t count, int root) = 0;
  /// The sum over all ranks of values[0, count), in the back end's memory, in place, as an op among
  /// the ops: it may be recorded, and ops run later see it. Added in fp64 whatever gradients travel
  /// as; every rank gets the same bits.
  virtual void sum(double* values, size_t count) = 0;
  /// Ops run from now on come after all that was started. Does not wait itself where the ops run
  /// beside the host.
  virtual void wait() = 0;
  /// Milliseconds that ops stood still for others since the last call; those of the last wait() may
  /// come a call later.
  virtual double take_waited_ms() = 0;
  /// An error is passing: nobody is waited for any more, and what is under way ends.
  virtual void abandon() = 0;
};

}  // namespace trainyard
