// The ranks of one generation talking to each other. All but the mailbox are collectives: every
// rank calls the same ones in the same order.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/comm/mailbox.h"
#include "trainer/comm/sum_type.h"

namespace trainyard {

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int world() const = 0;
  /// How many ranks run on this host, and which of them this one is (by falling into the same
  /// shared memory).
  virtual int local_rank() const = 0;
  virtual int local_world() const = 0;

  /// Copies root's values to every rank.
  virtual void broadcast(std::span<float> values, int root) = 0;
  /// Sums over all ranks, in place; the order of summation is fixed by (count, world), so every run
  /// gives the same bits.
  virtual void sum(std::span<double> values) = 0;
  /// As sum, but only starts it: `values` belong to the communicator until wait_all().
  virtual void start_sum(std::span<float> values) = 0;
  virtual void start_sum(std::span<double> values) = 0;
  /// As start_sum, but only rank 0 has the sums afterwards; what the others have then is of no use.
  virtual void start_sum_at_first(std::span<float> values) = 0;
  /// Lets started sums move on; cheap enough to call once a layer.
  virtual void progress() = 0;
  virtual void wait_all() = 0;
  /// Everyone's text, by rank (each at most 255 bytes).
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// Everyone's values, one after the other by rank: [world, values.size()].
  virtual std::vector<double> gather(std::span<const double> values) = 0;

  /// By which algorithm sums of floats are found from now on: auto, ring, tree or hierarchical
  /// (schedule.h). hosts: where each rank runs. `auto` looks at that: hierarchical where several
  /// hosts have several ranks, else the MPI library's own choice, or `direct` for bf16. type: as what
  /// floats travel. Returns the one chosen ("library" for the library's). Throws Error(Exit::usage)
  /// for another word.
  virtual std::string choose_all_reduce(const std::string& kind, const std::vector<std::string>& hosts,
                                        SumType type) = 0;
  /// As it was chosen.
  virtual SumType sum_type() const { return SumType::fp32; }
  /// Bytes of sums of floats that this rank has sent so far. Nothing is known of the library's.
  virtual uint64_t sent_bytes() const { return 0; }
  /// The ranks that gave the same color, in the same order, talking to each other alone.
  virtual std::unique_ptr<Communicator> part(int color) = 0;
  /// Messages that meet none of the collectives'. One a communicator.
  virtual Mailbox& mailbox() = 0;
};

std::unique_ptr<Communicator> make_single();

/// Whether what a rank waits for will never come. Asked again and again while it waits.
using GivenUp = std::function<bool()>;

/// Joins the other processes that mpiexec started. Its end is MPI_Finalize, left out while an
/// exception passes, since the other ranks would be waited for. Must be made before any other
/// thread uses MPI, and once in a process. All calls must come from the thread that made it
/// (MPI_THREAD_FUNNELED is what is asked for, and checked). Where `given_up` says so, collectives
/// throw Error(Exit::internal).
std::unique_ptr<Communicator> make_mpi(GivenUp given_up = {});

/// Whether mpiexec started this process.
bool started_by_mpiexec();
/// How many it started together; 1 where it did not start this one.
int processes_of_mpiexec();

/// `auto` and `nccl` (MPI when started by mpiexec; NCCL's part is the devices'), `mpi` or `none`.
/// Throws Error(Exit::usage) for another word.
std::unique_ptr<Communicator> make_communicator(const std::string& kind, GivenUp given_up = {});

}  // namespace trainyard
