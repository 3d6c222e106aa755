// Brings what this node's ranks write to the head of the run, as it grows.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "agent/connection/wire.h"
#include "agent/join/node_figures.h"
#include "agent/messages/json.h"
#include "agent/run/folder/run_folder.h"

namespace trainyard {

class NodeCopy {
 public:
  NodeCopy(const RunFolder& folder, const std::string& host);

  /// A generation has begun, or the connection is a new one: its records and heartbeats are sent
  /// (again).
  void begin(int generation, int first, int count);
  /// The ranks of an own program are about to start: what they report is sent too.
  void follow_figures() { figures_.begin(generation_); }
  /// How much of each log the head has, by rank, and up to which size it knows its times; null when
  /// it has never heard of this node, and then only what is written from this process's start on
  /// counts.
  /// `figures`: how many bytes of its figures the head has, or null.
  void set_offsets(const Json& copied, const Json& timed, const Json& figures = nullptr);
  uint64_t figures_offset() const { return figures_.offset(); }
  /// Sends what is new: records at once, heartbeats a few times a second, and of the logs only as
  /// much as lets a later heartbeat through soon.
  void pump(Wire& wire);
  /// Starts and ends alone.
  void send_records(Wire& wire);
  /// Whether the head has been sent all records and logs there are.
  bool drained() const;
  /// The run is over: whether the head has been sent all figures, too. To be called until it has.
  bool concluded(Wire& wire) { return figures_.concluded(wire); }
  /// Its own process; -1 while there is none.
  int pid() const { return figures_.pid(); }

 private:
  void send_beat(Wire& wire);
  void send_logs(Wire& wire);
  void send_times(Wire& wire);
  uint64_t size_of_log(int rank) const;

  struct Sent {
    bool started = false, ended = false;
    std::string beat;
  };
  struct Times {
    uint64_t read = 0;   ///< bytes of the file of times
    uint64_t after = 0;  ///< sizes up to this one are known to the head
  };
  RunFolder folder_;
  NodeFigures figures_;
  int generation_ = 0;
  bool is_new_here_ = false;               ///< the head had never heard of this node when this process began
  std::map<int, Sent> ranks_;              ///< of the generation
  std::map<int, uint64_t> size_at_start_;  ///< of logs that an earlier life of the run left
  std::map<int, uint64_t> offsets_;        ///< sent, by rank
  std::map<int, Times> times_;             ///< by rank
  int next_log_ = 0;                       ///< ranks take turns
  double next_beat_ = 0, next_idle_beat_ = 0;
};

}  // namespace trainyard
