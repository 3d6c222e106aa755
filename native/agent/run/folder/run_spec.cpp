#include "agent/run/folder/run_spec.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "agent/run/folder/batch_share.h"
#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/shared_files.h"
#include "agent/run/gpu_pins.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"

namespace trainyard {

namespace {

constexpr int64_t kMostRanks = 4096;
constexpr double kYear = 366.0 * 86400;

void check_environment(const std::map<std::string, std::string>& env) {
  for (const auto& [name, value] : env) {
    if (name.empty() || name.find('=') != std::string::npos || name.find('\0') != std::string::npos) {
      throw FieldError("spec.env: '" + name + "' cannot be the name of an environment variable");
    }
  }
}

std::string path_of(const Fields& paths, const char* name) {
  const std::optional<std::string> path = paths.optional_string(name);
  return path ? expand_path(*path) : "";
}

EvaluatorSpec parse_evaluator(const Json& json) {
  const Fields fields(json, "spec.evaluator");
  EvaluatorSpec evaluator;
  evaluator.argv = fields.strings("argv");
  evaluator.threads = static_cast<int>(fields.integer_or("threads", 1, 1, 4096));
  evaluator.nice = static_cast<int>(fields.integer_or("nice", 19, 0, 19));
  return evaluator;
}

/// Folders of NVIDIA's libraries, as TRAINYARD_NVIDIA_LIBRARIES lists them.
std::string parse_nvidia(const Fields& node, const std::string& where) {
  if (node.find("nvidia") == nullptr) return "";
  std::string list;
  for (const std::string& folder : node.strings("nvidia")) {
    if (folder.empty() || folder.front() != '/' || folder.find(':') != std::string::npos) {
      throw FieldError(where + ".nvidia: '" + folder + "' must be an absolute path without a colon");
    }
    list += (list.empty() ? "" : ":") + folder;
  }
  return list;
}

std::vector<NodeSpec> parse_nodes(const Fields& fields) {
  const Json* given = fields.find("nodes");
  if (given == nullptr || !given->is_array() || given->empty()) {
    throw FieldError("spec.nodes must name the hosts of a run whose launcher is 'manual', the head first");
  }
  std::vector<NodeSpec> nodes;
  for (const Json& one : *given) {
    const std::string where = "spec.nodes[" + std::to_string(nodes.size()) + "]";
    const Fields node(one, where);
    const int fewest = nodes.empty() ? 0 : 1;  // the first is the head, which may hold the run and no rank
    const int slots = static_cast<int>(node.integer("slots", fewest, kMostRanks));
    NodeSpec spec;
    spec.host = node.string("host");
    spec.address = node.string("address");
    spec.slots = slots;
    spec.gpus = gpus_of(one, "gpus", slots, where);
    spec.workers = static_cast<int>(node.integer_or("workers", 1, 1, kMostRanks));
    if (node.find("tasks") != nullptr) spec.tasks = node.strings("tasks");
    spec.nvidia = parse_nvidia(node, where);
    spec.spare = node.boolean_or("spare", false);
    // Both become parts of paths and of mpiexec's command line.
    if (!is_run_id(spec.host)) {
      throw FieldError("spec.nodes: host '" + spec.host + "' may hold letters, digits, '.', '_' and '-', 100 at most");
    }
    const bool plain = !spec.address.empty() && spec.address.front() != '-' &&
                       spec.address.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789.-_") == std::string::npos;
    if (!plain)
      throw FieldError("spec.nodes: address '" + spec.address + "' is neither a host name nor an IPv4 address");
    for (const NodeSpec& other : nodes) {
      if (other.host == spec.host) throw FieldError("spec.nodes names the host " + spec.host + " twice");
    }
    nodes.push_back(std::move(spec));
  }
  return nodes;
}

/// A spare has at most the slots of each node whose place it may take, so that no generation has
/// more ranks than were asked for. The head's place is taken by none.
void check_spares(const std::vector<NodeSpec>& nodes) {
  int most = static_cast<int>(kMostRanks);
  bool spares_begin = false;
  for (size_t index = 0; index < nodes.size(); ++index) {
    const NodeSpec& node = nodes[index];
    const std::string where = "spec.nodes[" + std::to_string(index) + "]";
    if (node.spare && index == 0) throw FieldError(where + ".spare must be false: the first node is the head");
    if (!node.spare && spares_begin) throw FieldError(where + " is no spare, and comes after one");
    if (node.spare && node.slots > most) {
      throw FieldError(where + ".slots must be at most " + std::to_string(most) +
                       ", as many as a node has whose place this spare may take");
    }
    spares_begin = spares_begin || node.spare;
    if (index > 0 && !node.spare) most = std::min(most, node.slots);
  }
}

void parse_cluster(const Fields& fields, RunSpec& spec) {
  spec.nodes = parse_nodes(fields);
  check_spares(spec.nodes);
  int slots = 0;
  for (const NodeSpec& node : spec.nodes) slots += node.spare ? 0 : node.slots;
  if (slots != spec.ranks) {
    throw FieldError("the slots of spec.nodes sum up to " + std::to_string(slots) + ", but spec.ranks is " +
                     std::to_string(spec.ranks));
  }
  spec.interface = fields.optional_string("interface").value_or("auto");
  if (spec.interface.empty() || spec.interface.front() == '-' || spec.interface.size() > 15 ||
      spec.interface.find_first_of(" /,:") != std::string::npos) {
    throw FieldError("spec.interface must be 'auto' or the name of a network interface");
  }
  const std::string range = fields.optional_string("portRange").value_or("");
  if (!range.empty() && (std::sscanf(range.c_str(), "%d-%d", &spec.first_port, &spec.last_port) != 2 ||
                         spec.first_port < 1 || spec.last_port > 65535 || spec.first_port > spec.last_port)) {
    throw FieldError("spec.portRange must read like 47000-47100");
  }
  spec.mirror = fields.optional_string("mirror").value_or("");
  const auto is_mirror = [&spec](const NodeSpec& node) { return node.host == spec.mirror; };
  if (!spec.mirror.empty() && std::none_of(spec.nodes.begin() + 1, spec.nodes.end(), is_mirror)) {
    throw FieldError("spec.mirror must be one of spec.nodes, and not the first, which is the head");
  }
  spec.min_nodes = static_cast<int>(fields.integer_or("minNodes", 1, 1, spec.usual_nodes()));
}

void parse_share(const Fields& fields, RunSpec& spec) {
  if (fields.find("share") == nullptr) return;
  spec.share = fields.string("share");
  if (spec.is_trainer) throw FieldError("spec.share must be absent when spec.program is 'trainer'");
  if (const std::string why = why_not_shared(spec.share); !why.empty()) throw FieldError("spec.share " + why);
}

void check_queue_of_nodes(const RunSpec& spec) {
  const std::vector<NodeQueue>& queued = spec.queue->nodes;
  size_t takers = 0;
  for (const NodeSpec& node : spec.nodes) {
    if (node.gpus.empty()) continue;
    ++takers;
    const auto found = std::ranges::find(queued, node.host, &NodeQueue::host);
    if (found == queued.end()) throw FieldError("spec.queue.nodes does not name " + node.host + ", which takes GPUs");
    if (found->gpus.size() < node.gpus.size()) {
      throw FieldError("spec.queue.nodes lists " + std::to_string(found->gpus.size()) + " GPUs of " + node.host +
                       ", which takes " + std::to_string(node.gpus.size()));
    }
  }
  if (queued.size() != takers) throw FieldError("spec.queue.nodes must name the nodes that take GPUs, each once");
}

void parse_queue_of(const Fields& fields, RunSpec& spec) {
  const Json* queue = fields.find("queue");
  if (queue == nullptr) return;
  spec.queue = parse_queue(Fields(*queue, "spec.queue"));
  if (spec.nodes.size() > 1) return check_queue_of_nodes(spec);
  const std::vector<NodeQueue>& nodes = spec.queue->nodes;
  const size_t listed = nodes.empty() ? 0 : nodes.front().gpus.size();
  if (nodes.size() > 1 || listed < spec.head_gpus().size() || (listed == 0) != spec.head_gpus().empty()) {
    throw FieldError("spec.queue.nodes must list the GPUs of which the run takes as many as it names");
  }
}

std::vector<std::string> trainer_line(const std::string& trainer, const std::vector<std::string>& argv,
                                      const std::string& run_dir) {
  std::vector<std::string> line{trainer};
  line.insert(line.end(), argv.begin(), argv.end());
  line.insert(line.end(), {"--run-dir", run_dir});
  return line;
}

}  // namespace

int count_with_ranks(const std::vector<NodeSpec>& nodes) {
  return static_cast<int>(std::ranges::count_if(nodes, &NodeSpec::has_ranks));
}

int RunSpec::usual_nodes() const {
  return static_cast<int>(
      std::ranges::count_if(nodes, [](const NodeSpec& node) { return node.has_ranks() && !node.spare; }));
}

std::vector<NodeSpec> RunSpec::chosen(const std::vector<NodeSpec>& present,
                                      const std::vector<std::string>& preferred) const {
  const auto may_be_left = [&](const NodeSpec& node) {
    return node.has_ranks() && node.host != nodes.front().host &&
           std::ranges::find(preferred, node.host) == preferred.end();
  };
  std::vector<NodeSpec> taken = present;
  // From the end: first those that are not preferred, then any.
  for (const bool any : {false, true}) {
    for (size_t index = taken.size(); index-- > 0 && count_with_ranks(taken) > usual_nodes();) {
      if (taken[index].has_ranks() && (any || may_be_left(taken[index])))
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(index));
    }
  }
  return taken;
}

RunSpec RunSpec::on_nodes(const std::vector<NodeSpec>& present, const std::vector<std::string>& preferred) const {
  RunSpec fewer = *this;
  const auto take = [&fewer](std::vector<NodeSpec> taken) {
    fewer.nodes = std::move(taken);
    fewer.ranks = 0;
    for (const NodeSpec& node : fewer.nodes) fewer.ranks += node.slots;
  };
  take(chosen(present, preferred));
  const bool trains = is_trainer && !argv.empty() && argv.front() == "train";
  if (!trains || fewer.ranks >= ranks) return fewer;
  // A run that was planned for another number of ranks says so itself.
  const auto given = flag_value(argv, "--planned-ranks");
  const int planned = given ? std::atoi(given->c_str()) : ranks;
  std::vector<NodeSpec> taken = fewer.nodes;
  while (!shares_batch(argv, planned, fewer.ranks) && count_with_ranks(fewer.nodes) > std::max(1, min_nodes)) {
    std::vector<NodeSpec> less = fewer.nodes;
    less.pop_back();
    take(std::move(less));
  }
  if (!shares_batch(argv, planned, fewer.ranks)) take(std::move(taken));
  if (!given) fewer.argv.insert(fewer.argv.end(), {"--planned-ranks", std::to_string(ranks)});
  return fewer;
}

std::vector<std::string> RunSpec::rank_command(const std::string& run_dir) const {
  return is_trainer ? trainer_line(trainer, argv, run_dir) : argv;
}

std::vector<std::string> RunSpec::evaluator_command(const std::string& run_dir) const {
  return trainer_line(trainer, evaluator->argv, run_dir);
}

DebugSpec parse_debug(const Fields& fields, int ranks, int words) {
  DebugSpec debug;
  debug.rank = static_cast<int>(fields.integer("rank", 0, ranks - 1));
  debug.target = static_cast<int>(fields.integer("target", 0, words - 1));
  debug.script = fields.boolean_or("script", false);
  return debug;
}

RunSpec parse_run_spec(const Json& json) {
  const Fields fields(json, "spec");
  RunSpec spec;
  if (fields.integer_or("version", 1, 1, 1'000'000) != 1) {
    throw FieldError("spec.version is newer than this agent understands (1). Update the agent on this node");
  }
  spec.id = fields.optional_string("id").value_or("");
  if (!spec.id.empty() && !is_run_id(spec.id)) {
    throw FieldError("spec.id may hold letters, digits, '.', '_' and '-', 100 at most, and not begin with '.'");
  }
  spec.label = fields.optional_string("label").value_or("");

  const std::string program = fields.string("program");
  if (program != "trainer" && program != "command") throw FieldError("spec.program must be 'trainer' or 'command'");
  spec.is_trainer = program == "trainer";
  spec.argv = fields.strings("argv");
  if (spec.argv.empty()) throw FieldError("spec.argv is empty. Name what to run");
  spec.given_cwd = fields.optional_string("cwd").value_or("");
  if (fields.find("cwd") != nullptr) spec.cwd = expand_path(spec.given_cwd);
  spec.logdir = fields.optional_string("logdir").value_or("");
  spec.has_code = fields.find("code") != nullptr;
  if (spec.has_code && spec.is_trainer) throw FieldError("spec.code must be absent when spec.program is 'trainer'");
  spec.ranks = static_cast<int>(fields.integer_or("ranks", 1, 1, kMostRanks));
  spec.per_node = fields.boolean_or("perNode", false);
  if (spec.per_node && spec.is_trainer) throw FieldError("spec.perNode must be false when spec.program is 'trainer'");
  spec.workers = static_cast<int>(fields.integer_or("workers", 1, 1, kMostRanks));
  spec.prologue = fields.optional_string("prologue").value_or("");
  if (const Json* environment = fields.find("environment")) {
    if (spec.is_trainer) throw FieldError("spec.environment must be absent when spec.program is 'trainer'");
    spec.environment = Fields(*environment, "spec.environment").string("path");
    expand_path(spec.environment);
  }
  spec.threads_per_rank = static_cast<int>(fields.integer_or("threadsPerRank", 1, 1, 4096));
  spec.gpus = gpus_of(json, "gpus", spec.ranks, "spec");
  spec.env = fields.string_map_or_empty("env");
  check_environment(spec.env);
  if (const Json* debug = fields.find("debug")) {
    if (spec.is_trainer) throw FieldError("spec.debug must be absent when spec.program is 'trainer'");
    spec.debug = parse_debug(Fields(*debug, "spec.debug"), spec.ranks, static_cast<int>(spec.argv.size()));
  }
  if (const Json* evaluator = fields.find("evaluator")) {
    if (!spec.is_trainer) throw FieldError("spec.evaluator must be null when spec.program is 'command'");
    spec.evaluator = parse_evaluator(*evaluator);
  }
  spec.tensorboard = fields.boolean_or("tensorboard", false);
  spec.tensorboard_idle = fields.number_or("tensorboardIdle", 3600, 0, kYear);

  if (const Json* notify = fields.find("notify")) spec.notify_of = Fields(*notify, "spec.notify").strings("on");

  static const Json kNone = Json::object();
  const Json* given_paths = fields.find("paths");
  const Fields paths(given_paths != nullptr ? *given_paths : kNone, "spec.paths");
  spec.trainer = path_of(paths, "trainer");
  spec.mpiexec = path_of(paths, "mpiexec");
  spec.agent = path_of(paths, "agent");
  if (spec.agent.empty()) spec.agent = own_executable();
  spec.python = path_of(paths, "python");
  spec.tensorboard_server = path_of(paths, "tensorboardServer");
  if (spec.mpiexec.empty()) throw FieldError("spec.paths.mpiexec is missing");
  if (spec.is_trainer && spec.trainer.empty()) throw FieldError("spec.paths.trainer is missing");
  if (spec.tensorboard && (spec.python.empty() || spec.tensorboard_server.empty())) {
    throw FieldError("spec.tensorboard needs spec.paths.python and spec.paths.tensorboardServer");
  }

  const Json* given_limits = fields.find("limits");
  const Fields limits(given_limits != nullptr ? *given_limits : kNone, "spec.limits");
  spec.hang_timeout = limits.number_or("hangTimeout", 300, 0, kYear);
  spec.silence_timeout = limits.number_or("silenceTimeout", 0, 0, kYear);
  if (spec.is_trainer && spec.silence_timeout > 0) {
    throw FieldError("spec.limits.silenceTimeout is for spec.program 'command': a trainer has heartbeats");
  }
  if (spec.debug && spec.silence_timeout > 0) {
    throw FieldError("spec.limits.silenceTimeout must be absent with spec.debug: a rank is silent while it waits");
  }
  spec.start_timeout = limits.number_or("startTimeout", 60, 0.1, kYear);
  spec.node_return_timeout = limits.number_or("nodeReturnTimeout", 600, 0, kYear);
  spec.max_restarts = static_cast<int>(limits.integer_or("maxRestarts", 0, 0, 1'000'000));

  spec.stop_grace = limits.number_or("stopGrace", 0, 0, kYear);
  spec.time_limit = limits.number_or("timeLimit", 0, 0, kYear);
  parse_share(fields, spec);
  const std::string launcher = fields.optional_string("launcher").value_or("fork");
  if (launcher != "fork" && launcher != "manual") throw FieldError("spec.launcher must be 'fork' or 'manual'");
  if (launcher == "manual") parse_cluster(fields, spec);
  parse_queue_of(fields, spec);
  return spec;
}

std::string proxy_beside(const std::string& mpiexec) {
  return (std::filesystem::path(mpiexec).parent_path() / "hydra_pmi_proxy").string();
}

std::optional<std::string> missing_program(const RunSpec& spec) {
  std::vector<std::string> programs{spec.mpiexec, spec.agent};
  if (spec.is_trainer) programs.push_back(spec.trainer);
  if (spec.spans_hosts()) programs.push_back(proxy_beside(spec.mpiexec));
  if (spec.tensorboard) programs.push_back(spec.python);
  for (const std::string& path : programs) {
    if (!file_exists(path)) return path + " does not exist. Prepare this node's runtime first";
    if (::access(path.c_str(), X_OK) != 0) {
      return path + " cannot be executed. Check its permissions and that its file system is not mounted noexec";
    }
  }
  if (spec.head_has_ranks() && !spec.cwd.empty() && !folder_exists(spec.cwd))
    return "the working directory " + spec.cwd + " does not exist";
  return std::nullopt;
}

std::optional<std::string> missing_command(const RunSpec& spec) {
  if (spec.is_trainer || !spec.prologue.empty() || !spec.head_has_ranks()) return std::nullopt;
  const std::string& program = spec.argv.front();
  const std::string hint = ". Install it there, or name the whole path of a program";
  const std::string host = spec.nodes.empty() ? host_name() : spec.nodes.front().host;  // as the profile calls it
  if (program.find('/') == std::string::npos) {
    const auto own = spec.env.find("PATH");
    Environment env = clean_environment();
    if (own != spec.env.end()) env["PATH"] = own->second;
    if (!spec.environment.empty()) env["PATH"] = with_bin_of(expand_path(spec.environment), env["PATH"]);
    if (look_up(program, env).find('/') != std::string::npos) return std::nullopt;
    return program + " is not on PATH on " + host + hint;
  }
  const bool in_home = program.starts_with("~/");
  if (!in_home && program.front() != '/' && spec.cwd.empty()) return std::nullopt;  // below the run's own folder
  const std::string path = in_home || program.front() == '/' ? expand_path(program) : spec.cwd + "/" + program;
  if (!file_exists(path)) return path + " does not exist on " + host + hint;
  if (::access(path.c_str(), X_OK) == 0) return std::nullopt;
  return path + " cannot be executed on " + host + ". Check its permissions";
}

std::string run_label(const RunSpec& spec) {
  if (!spec.label.empty()) return spec.label;
  if (spec.is_trainer) {
    if (const auto model = flag_value(spec.argv, "--model")) return *model;
  }
  return std::filesystem::path(spec.argv.front()).filename().string();
}

}  // namespace trainyard
