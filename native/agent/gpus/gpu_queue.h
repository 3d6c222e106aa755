// Who waits for GPUs of this node: a ticket for each start, which ends with the process that holds
// it (docs/contracts/gpus.md).
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/gpus/gpu_folder.h"
#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

/// What a start waits for on this node.
struct GpuTicket {
  std::string id;         ///< 32 hexadecimal digits, the same on every node of the start
  std::vector<int> gpus;  ///< those that count, in the order in which it takes them
  int count = 0;          ///< how many of them
  std::string by;         ///< whose start it is, for people
};

/// Throws FieldError.
GpuTicket gpu_ticket(const Fields& params);

/// Tickets that this process holds. Whatever ends it takes it out of the queue.
class GpuQueue {
 public:
  /// `folder`: of the locks for which the tickets wait.
  explicit GpuQueue(std::string folder = gpu_locks_folder()) : folder_(std::move(folder)) {}
  ~GpuQueue();
  GpuQueue(const GpuQueue&) = delete;
  GpuQueue& operator=(const GpuQueue&) = delete;

  /// Queues, or says anew what a ticket waits for. Without a number it gets the one after the
  /// highest, or keeps its own. Returns the number. Throws file_error, and Error where the folder is
  /// not this user's alone.
  int64_t enter(const GpuTicket& ticket, std::optional<int64_t> number);
  /// Nothing where it is not here.
  void leave(const std::string& id);

 private:
  struct Held {
    std::string path;
    Descriptor file;
    int64_t number = 0;
    double since = 0;
  };
  std::string folder_;
  std::map<std::string, Held> held_;
};

/// The tickets of living processes in their order: {ticket, number, gpus, count, by, host, pid,
/// since}. What dead ones left is removed.
Json waiting_starts(const std::string& folder = gpu_locks_folder());

/// Whether the one ticket of waiting_starts() comes before the other.
bool comes_before(const Json& one, const Json& other);

}  // namespace trainyard
