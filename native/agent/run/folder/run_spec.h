// run.json: what is to run, checked before anything starts.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/messages/json.h"
#include "agent/run/folder/queue_spec.h"

namespace trainyard {

struct EvaluatorSpec {
  std::vector<std::string> argv;  ///< without program path and --run-dir
  int threads = 1;
  int nice = 19;
};

/// One host of a run that spans several, the head first.
struct NodeSpec {
  std::string host;                     ///< the profile's name of it
  std::string address;                  ///< how the others reach it
  int slots = 1;                        ///< 0: no rank runs there, which only the head may have
  std::vector<int> gpus;                ///< of its ranks, in their order; empty: whatever the program takes
  int workers = 1;                      ///< that its one process may start, where the run has one process on each node
  std::vector<std::string> tasks = {};  ///< TensorFlow's, of its processes ("ps:2222")
  std::string nvidia = {};              ///< the node's folders of NVIDIA's libraries, separated by colons
  bool spare = false;                   ///< it waits to take a lost one's place; these stand last
  bool has_ranks() const { return slots > 0; }
  bool operator==(const NodeSpec&) const = default;
};

/// How many of them have ranks.
int count_with_ranks(const std::vector<NodeSpec>& nodes);

/// A rank of an own program in Python that starts under debugpy, and waits for a debugger.
struct DebugSpec {
  int rank = 0;
  int target = 0;  ///< the word of argv that debugpy runs: a script, -m or -c
  /// It is an installed script, looked up on PATH, whose first line names the interpreter.
  bool script = false;
};
/// Of a run with so many ranks and words in its argv. Throws FieldError.
DebugSpec parse_debug(const Fields& fields, int ranks, int words);

struct RunSpec {
  std::string id;
  std::string label;
  bool is_trainer = true;  ///< program "trainer"; else "command", whose argv is the whole command line
  std::vector<std::string> argv;
  std::string cwd;        ///< where a command runs; empty: the run folder
  bool has_code = false;  ///< the run folder's `code` is where a command runs
  std::string given_cwd;  ///< as the client wrote it: `~` is each node's own
  std::string logdir;     ///< a further folder with event files of a command, on the head
  int ranks = 1;
  bool per_node = false;    ///< one process on each node, which sees all GPUs there
  int workers = 1;          ///< of a run on this machine alone: as of NodeSpec
  std::string prologue;     ///< shell text, run before each process
  std::string environment;  ///< folder of an own program's packages; `~` is each node's own
  int threads_per_rank = 1;
  std::vector<int> gpus;  ///< of the ranks of a run on this machine alone, in their order; empty: as the program likes
  std::map<std::string, std::string> env;
  std::optional<DebugSpec> debug;
  std::optional<EvaluatorSpec> evaluator;
  bool tensorboard = false;
  double tensorboard_idle = 0;  ///< seconds without a request after which TensorBoard ends

  /// Kinds of messages that are sent (docs/contracts/notify.md).
  std::vector<std::string> notify_of;

  std::string trainer, mpiexec, agent, python, tensorboard_server;  ///< absolute paths

  double hang_timeout = 300;   ///< seconds without a heartbeat; 0: never
  double silence_timeout = 0;  ///< seconds without output of an own program; 0: never
  double start_timeout = 60;   ///< seconds until all ranks run
  int max_restarts = 0;
  double stop_grace = 0;             ///< seconds between SIGTERM and SIGKILL of an own program; 0: no limit
  double node_return_timeout = 600;  ///< seconds for lost nodes to be back before a restart
  double time_limit = 0;             ///< seconds of this start, after which the run stops; 0: none

  /// What it waits for before it begins; the GPUs of each node are then as many as it takes.
  std::optional<QueueSpec> queue;
  /// The GPUs of the ranks on the head.
  const std::vector<int>& head_gpus() const { return nodes.empty() ? gpus : nodes.front().gpus; }

  std::vector<NodeSpec> nodes;  ///< launcher "manual"; empty: every rank runs here
  std::string interface = "auto";
  int first_port = 0, last_port = 0;  ///< what may be listened on; 0: any
  std::string mirror;                 ///< the host that keeps a copy of the run folder; empty: none
  std::string share;                  ///< a folder that nodes get from the head; empty: none
  int min_nodes = 1;                  ///< of those with ranks
  /// How many nodes with ranks a generation has: all that are no spares.
  int usual_nodes() const;
  bool spans_hosts() const { return !nodes.empty(); }
  /// Whether ranks run on the machine of the supervisor.
  bool head_has_ranks() const { return nodes.empty() || nodes.front().has_ranks(); }

  /// Of a generation on these nodes: usual_nodes() of them take the ranks, the `preferred` hosts
  /// before others. With fewer ranks than were asked for our trainer shares the same global batch
  /// among them. Where the batch cannot be shared equally, further nodes are left out, down to
  /// min_nodes; where that does not help either, none are.
  RunSpec on_nodes(const std::vector<NodeSpec>& present, const std::vector<std::string>& preferred = {}) const;

  /// Of these nodes the ones that take ranks, and the head, in the same order.
  std::vector<NodeSpec> chosen(const std::vector<NodeSpec>& present, const std::vector<std::string>& preferred) const;

  /// The whole command line of one rank.
  std::vector<std::string> rank_command(const std::string& run_dir) const;
  std::vector<std::string> evaluator_command(const std::string& run_dir) const;
};

/// Reads and checks a spec. Paths get their `~` replaced. Throws FieldError naming the field.
RunSpec parse_run_spec(const Json& json);

/// The proxy that belongs to an mpiexec.
std::string proxy_beside(const std::string& mpiexec);

/// What is missing on this node for the run to start ("PATH does not exist …"), if anything.
std::optional<std::string> missing_program(const RunSpec& spec);

/// Why the program of a run that is not our trainer's cannot start on this node, as far as that is
/// known before its prologue.
std::optional<std::string> missing_command(const RunSpec& spec);

/// The label for a run's id: the spec's own, else the model, else the program's name.
std::string run_label(const RunSpec& spec);

}  // namespace trainyard
