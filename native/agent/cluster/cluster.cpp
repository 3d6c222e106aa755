#include "agent/cluster/cluster.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "agent/cluster/launch.h"
#include "agent/messages/hmac.h"
#include "agent/ranks/doing.h"
#include "agent/ranks/own_program.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"
#include "agent/system/spawn.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kSilentSeconds = 15;        // of a node that says something each second
constexpr double kDisconnectedSeconds = 20;  // then its ranks end there as well
constexpr double kBeatSeconds = 1;
constexpr double kOwnJoinSeconds = 2;    // between two starts of the head's own
constexpr double kMomentSeconds = 0.05;  // for one node's messages in one step
constexpr size_t kKeyBytes = 32;

std::vector<Activity> read_activity(const Fields& message) {
  std::vector<Activity> activities;
  const Json* ranks = message.find("ranks");
  if (ranks == nullptr || !ranks->is_array()) return activities;
  for (const Json& one : *ranks) {
    const Fields fields(one, "activity");
    const std::string state = fields.string("state");
    activities.push_back({static_cast<int>(fields.integer("rank", 0, INT32_MAX)), state.empty() ? '?' : state.front(),
                          fields.number_or("busy", 0, 0, 1e6),
                          short_phrase(fields.optional_string("doing").value_or(""))});
  }
  return activities;
}

}  // namespace

const char* state_name(ClusterNode::State state) {
  switch (state) {
    case ClusterNode::State::joined:
      return "joined";
    case ClusterNode::State::lost:
      return "lost";
    default:
      return "waiting";
  }
}

Cluster::Cluster(const RunFolder& folder, const RunSpec& spec, Journal& journal)
    : folder_(folder),
      spec_(spec),
      journal_(journal),
      key_(random_hex(kKeyBytes)),
      token_(random_hex(kKeyBytes)),
      port_(spec.nodes.front().address, spec.first_port, spec.last_port, key_) {
  for (const NodeSpec& node : spec.nodes) {
    nodes_.emplace_back(folder, node);
    nodes_.back().since = now_seconds();
    make_private_folders(folder.file("nodes/" + node.host));
    ::unlink(folder.node(node.host, "not-joined.json").c_str());  // of an earlier life of the run
  }
  ::unlink(folder.file("share.json").c_str());  // of a node that was no head yet
  replace_file(folder.joining(), to_line({{"port", port_.port()}, {"key", key_}}) + "\n");
  replace_file(folder.file("nodes/probe.json"), to_line({{"token", token_}}) + "\n");
  const Json join{{"address", port_.own_address()},
                  {"port", port_.port()},
                  {"key", key_},
                  {"paths", {{"agent", spec.agent}, {"trainer", spec.trainer}, {"proxy", proxy_beside(spec.mpiexec)}}}};
  replace_file(folder.node(spec.nodes.front().host, "join.json"), to_line(join) + "\n");
  if (!spec.mirror.empty()) mirror_ = std::make_unique<MirrorSource>(folder);
}

void Cluster::start_own_join() {
  if (over_ || (own_join_ && is_alive(*own_join_)) || monotonic_seconds() < next_own_join_) return;
  next_own_join_ = monotonic_seconds() + kOwnJoinSeconds;
  Command command;
  command.argv = {spec_.agent, "join", "--run-dir", folder_.dir(), "--host", nodes_.front().spec.host};
  command.env = clean_environment();
  command.cwd = folder_.dir();
  command.log = folder_.node(nodes_.front().spec.host, "join.log");
  command.death_signal = SIGKILL;
  try {
    own_join_ = start_child(command);
  } catch (const Error& error) {
    std::fprintf(stderr, "agent: warning: %s\n", error.what());
  }
}

void Cluster::step() {
  start_own_join();
  busy_ = false;
  for (std::unique_ptr<Wire>& wire : port_.step()) admit(std::move(wire));
  const double now = monotonic_seconds();
  const bool beat = now >= next_beat_;
  if (beat) next_beat_ = now + kBeatSeconds;
  for (ClusterNode& node : nodes_) {
    if (beat && node.is_here()) node.wire->send({{"kind", "beat"}});
    serve(node);
    look_for_lost(node, now);
  }
  if (queue_ && !over_) queue_->step(nodes_);
  read_launches();
  look_at_mirror();
}

void Cluster::serve(ClusterNode& node) {
  pump_control(node);
  const double until = monotonic_seconds() + kMomentSeconds;
  while (pump(node) && monotonic_seconds() < until) {
  }
  pump_control(node);
}

/// True when there may be more to read at once.
bool Cluster::pump(ClusterNode& node) {
  if (!node.wire) return false;
  const bool connected = node.wire->pump();
  try {
    while (const auto message = node.wire ? node.wire->next() : std::nullopt) take(node, *message);
  } catch (const std::exception& error) {
    drop(node, error.what());
    return false;
  }
  if (!node.wire) return false;
  if (!connected || !node.wire->why().empty()) {
    drop(node, node.wire->why());
    return false;
  }
  return node.wire->more();
}

void Cluster::admit(std::unique_ptr<Wire> wire) {
  if (take_mirror(wire) || take_share(wire)) return;
  ClusterNode* node = find(wire->host());
  if (node == nullptr) return;  // it holds the key, but is no node of this run
  if (node->wire) drop(*node, "it connected anew");
  node->wire = std::move(wire);
  node->ready = false;
  node->control.rewind();
  node->wire->send({{"kind", "welcome"},
                    {"head", node == &nodes_.front()},
                    {"token", token_},
                    {"copied", node->copy.offsets()},
                    {"figures", node->copy.figures().copied()},
                    {"timed", node->copy.timed()}});
}

void Cluster::take(ClusterNode& node, const Json& message) {
  const Fields fields(message, "message");
  const std::string kind = fields.string("kind");
  if (kind == "ready") return take_ready(node, fields);
  if (kind == "control") return take_control(node, fields);
  if (queue_ && queue_->answered(node, kind, message)) return;
  busy_ = busy_ || kind == "log";
  if (node.copy.take(kind, message)) return;
  const bool of_this_generation = fields.integer_or("generation", 0, 0, INT32_MAX) == generation_;
  if (kind == "gone" && of_this_generation) {
    node.gone.insert(static_cast<int>(fields.integer("rank", 0, INT32_MAX)));
  } else if (kind == "activity" && of_this_generation) {
    node.activity = read_activity(fields);
    node.activity_told = monotonic_seconds();
  } else if (kind == "killed" && fields.integer("left", 0, INT32_MAX) == 0) {
    node.clean_round = fields.integer("round", 0, INT64_MAX);
  } else if (kind == "settled") {
    node.settled = fields.integer("number", 0, INT64_MAX);
    const Json* left = fields.find("left");
    node.left = left == nullptr ? Json::array() : *left;
  } else if (kind == "figures_notice" && fields.string("event").starts_with("figures_")) {
    journal_.event(fields.string("event"), node.copy.figures().named(message.at("fields")));
  } else if (kind == "leaving") {
    node.leaving = node.pid;
    journal_.event("stop_requested", {{"mode", "checkpoint"},
                                      {"by", "node " + node.spec.host + ", whose agent got " + fields.string("why")}});
  } else if (kind == "trouble" && !failure_) {
    failure_ = "node " + node.spec.host + ": " + fields.string("message");
  }
}

void Cluster::take_ready(ClusterNode& node, const Fields& fields) {
  node.ready = true;
  node.disconnected = 0;
  node.shared = fields.boolean_or("shared", false);
  node.pid = static_cast<int>(fields.integer("pid", 1, INT32_MAX));
  node.copy.begin();
  node.copy.figures().begin_at(static_cast<uint64_t>(fields.integer_or("figures", 0, 0, INT64_MAX)));
  if (node.state != ClusterNode::State::joined) {
    set_state(node, ClusterNode::State::joined);
    journal_.event("node_joined", {{"host", node.spec.host}, {"shared", node.shared}});
  }
  ask_mirror(node);
  ask_share(node);
  ready_to_queue(node);
  if (settle_round_ > 0 && node.settled != settle_round_) {
    node.wire->send({{"kind", over_ ? "over" : "settle"}, {"number", settle_round_}});
    return;
  }
  if (node.launched_by != 0 && node.launched_by != node.pid) {
    if (!failure_) failure_ = "the part of node " + node.spec.host + " in this run was killed and began anew";
    return;
  }
  if (node.launch && fields.integer_or("generation", 0, 0, INT32_MAX) != generation_) send_launch(node);
  if (!node.terminated.empty()) node.wire->send({{"kind", "terminate"}, {"ranks", node.terminated}});
}

void Cluster::drop(ClusterNode& node, std::string why) {  // by value: it often is the connection's own
  node.wire.reset();
  node.ready = false;
  node.why = why.empty() ? "the connection was closed" : std::move(why);
  if (node.disconnected == 0) node.disconnected = monotonic_seconds();
}

void Cluster::look_for_lost(ClusterNode& node, double now) {
  if (node.state != ClusterNode::State::joined) return;
  if (node.wire && now - node.wire->heard() > kSilentSeconds) {
    drop(node, "nothing was heard from it for 15 s");
    lose(node, node.why);
  } else if (!node.wire && node.disconnected > 0 && now - node.disconnected > kDisconnectedSeconds) {
    lose(node, node.why + ", and it did not come back within 20 s");
  }
}

void Cluster::lose(ClusterNode& node, const std::string& why) {
  set_state(node, ClusterNode::State::lost);
  if (over_) return;
  if (queue_) queue_->lost();
  journal_.event("node_lost", {{"host", node.spec.host}, {"reason", why}});
  if (node.count > 0 && !failure_) failure_ = "node " + node.spec.host + " was lost: " + why;
}

void Cluster::set_state(ClusterNode& node, ClusterNode::State state) {
  node.state = state;
  node.since = now_seconds();
  changed_ = true;
}

Json Cluster::nodes_json() const {
  Json list = Json::array();
  for (const ClusterNode& node : nodes_) {
    list.push_back({{"host", node.spec.host},
                    {"address", node.spec.address},
                    {"state", state_name(node.state)},
                    {"since", node.since}});
    const bool idle = generation_ > 0 && node.spec.has_ranks() && node.count == 0;
    if (idle && node.state == ClusterNode::State::joined) list.back()["spare"] = true;
  }
  return list;
}

std::vector<std::string> Cluster::missing() const {
  std::vector<std::string> hosts;
  for (const ClusterNode& node : nodes_) {
    if (!node.stays()) hosts.push_back(node.spec.host);
  }
  return hosts;
}

std::vector<NodeSpec> Cluster::present() const {
  std::vector<NodeSpec> specs;
  for (const ClusterNode& node : nodes_) {
    if (node.stays()) specs.push_back(node.spec);
  }
  return specs;
}

std::optional<std::string> Cluster::blind_leader() const {
  for (const ClusterNode& node : nodes_) {
    if (!node.stays() || !node.spec.has_ranks()) continue;
    return node.shared || &node == &nodes_.front() ? std::nullopt : std::optional(node.spec.host);
  }
  return std::nullopt;
}

void Cluster::begin_generation(int number, const RunSpec& spec, const std::string& launch_log,
                               const ControlChannel& control) {
  generation_ = number;
  argv_ = spec.argv;
  program_ = own_program(spec, number);
  control_ = &control;
  members_.clear();
  failure_.reset();
  settle_round_ = 0;
  int first = 0;
  for (ClusterNode& node : nodes_) {
    const bool takes_part =
        node.spec.has_ranks() &&
        std::ranges::find(spec.nodes, node.spec.host, [](const NodeSpec& one) { return one.host; }) != spec.nodes.end();
    node.begin(number, first, takes_part ? node.spec.slots : 0);
    first += node.count;
    if (takes_part) members_.push_back(node.spec.host);
  }
  launches_ = std::make_unique<Tail>(launch_log);
}

void Cluster::read_launches() {
  if (!launches_) return;
  for (const std::string& line : launches_->lines()) {
    if (line.starts_with("HYDRA_LAUNCH_END")) {
      launches_.reset();
      return;
    }
    const auto proxy = parse_proxy_line(line, "127.0.0.1", spec_.interface);  // it inherits its connection
    ClusterNode* node = proxy && proxy->index < members_.size() ? find(members_[proxy->index]) : nullptr;
    if (node == nullptr) continue;
    node->launch = launch_message(*node, proxy->words);
    if (node->is_here()) send_launch(*node);
  }
}

Json Cluster::launch_message(const ClusterNode& node, const std::vector<std::string>& words) const {
  Json network = Json::object();
  if (spec_.first_port > 0) {
    network["MPIEXEC_PORT_RANGE"] = port_range_words(spec_, ':');
    network["MPIR_CVAR_CH3_PORT_RANGE"] = port_range_words(spec_, ':');
    network["UCX_TCP_PORT_RANGE"] = port_range_words(spec_, '-');
    network["FI_TCP_PORT_LOW_RANGE"] = std::to_string(spec_.first_port);
    network["FI_TCP_PORT_HIGH_RANGE"] = std::to_string(spec_.last_port);
  }
  if (spec_.interface != "auto" && spec_.interface != "lo") {  // between hosts UCX takes no loopback for a way
    network["UCX_NET_DEVICES"] = spec_.interface;
    network["FI_TCP_IFACE"] = spec_.interface;
    network["NCCL_SOCKET_IFNAME"] = "=" + spec_.interface;  // "=": no other whose name begins so
    network["GLOO_SOCKET_IFNAME"] = spec_.interface;        // PyTorch's, on CPUs
  }
  auto env = spec_.env;
  if (!node.spec.nvidia.empty()) env.emplace("TRAINYARD_NVIDIA_LIBRARIES", node.spec.nvidia);
  return {{"kind", "generation"},
          {"number", generation_},
          {"first", node.first},
          {"count", node.count},
          {"proxy", words},
          {"argv", argv_},
          {"trainer", spec_.is_trainer},
          {"cwd", spec_.given_cwd},
          {"prologue", spec_.prologue},
          {"program", program_},
          {"code", spec_.has_code},
          {"env", Json(env)},
          {"gpus", node.spec.gpus.empty() ? Json(nullptr) : Json(node.spec.gpus)},
          {"threads", spec_.threads_per_rank},
          {"network", network}};
}

void Cluster::send_launch(ClusterNode& node) {
  node.wire->send(*node.launch);
  node.launched_by = node.pid;
}

void Cluster::settle(bool over) {
  over_ = over_ || over;
  settle_round_ = ++kill_round_;
  for (ClusterNode& node : nodes_) {
    node.settled.reset();
    if (node.is_here()) node.wire->send({{"kind", over ? "over" : "settle"}, {"number", settle_round_}});
  }
}

bool Cluster::settled() const {
  return std::all_of(nodes_.begin(), nodes_.end(), [this](const ClusterNode& node) {
    return node.settled == settle_round_ || node.state != ClusterNode::State::joined;
  });
}

std::vector<std::string> Cluster::left() const {
  std::vector<std::string> lines;
  for (const ClusterNode& node : nodes_) {
    if (node.launched_by != 0 && node.settled != settle_round_) {
      lines.push_back("node " + node.spec.host + " did not say whether anything is left there");
    }
    for (const Json& one : node.left) {
      lines.push_back("process " + std::to_string(one.value("pid", 0)) + " (" + one.value("what", "") + ") on " +
                      node.spec.host + " could not be ended");
    }
  }
  return lines;
}

const ClusterNode* Cluster::find(const std::string& host) const {
  const auto found = std::ranges::find(nodes_, host, [](const ClusterNode& node) { return node.spec.host; });
  return found == nodes_.end() ? nullptr : &*found;
}

ClusterNode* Cluster::find(const std::string& host) {
  return const_cast<ClusterNode*>(std::as_const(*this).find(host));
}

}  // namespace trainyard
