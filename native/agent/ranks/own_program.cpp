#include "agent/ranks/own_program.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <random>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr int kMostProcesses = 1 << 20;
constexpr int kMostTries = 20'000;

/// One node of a description.
struct Group {
  std::string address;
  int processes = 1;
  int workers = 1;
  std::vector<std::string> tasks;
};

/// Bound without SO_REUSEADDR, so that a port on which something has just ended counts as held.
Descriptor hold_port(int port) {
  Descriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  any.sin_port = htons(static_cast<uint16_t>(port));
  if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) return Descriptor();
  return fd;
}

int port_of(const Descriptor& fd) {
  sockaddr_in held{};
  socklen_t size = sizeof held;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&held), &size) != 0) return 0;
  return ntohs(held.sin_port);
}

std::vector<Group> read_groups(const Fields& fields) {
  const Json* nodes = fields.find("nodes");
  if (nodes == nullptr || !nodes->is_array() || nodes->empty()) throw FieldError("program.nodes is missing");
  std::vector<Group> groups;
  for (const Json& one : *nodes) {
    const Fields node(one, "program.nodes");
    Group group;
    group.address = node.string("address");
    group.processes = static_cast<int>(node.integer("processes", 1, kMostProcesses));
    group.workers = static_cast<int>(node.integer_or("workers", 1, 1, kMostProcesses));
    if (node.find("tasks") != nullptr) group.tasks = node.strings("tasks");
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<int> read_ports(const Fields& fields) {
  std::vector<int> ports;
  const Json* list = fields.find("ports");
  if (list == nullptr || !list->is_array()) return ports;
  for (const Json& one : *list) {
    if (one.is_number_integer()) ports.push_back(one.get<int>());
  }
  return ports;
}

/// TF_CONFIG of one process; empty where a port is lacking.
std::string tf_config(const std::vector<Group>& groups, const std::vector<int>& ports, int own_rank) {
  Json cluster = Json::object();
  Json own;
  std::map<std::string, int> counts;
  int rank = 0;
  for (const Group& group : groups) {
    for (int local = 0; local < group.processes; ++local, ++rank) {
      const auto place = static_cast<size_t>(local);
      const std::string task = place < group.tasks.size() ? group.tasks[place] : "worker";
      const size_t colon = task.find(':');
      const std::string type = task.substr(0, colon);
      std::string port = colon == std::string::npos ? "" : task.substr(colon + 1);
      if (port.empty() && ports.size() > 1) {
        port = std::to_string(ports[1 + (static_cast<size_t>(rank) % (ports.size() - 1))]);
      }
      if (port.empty()) return "";
      if (type != "evaluator") cluster[type].push_back(group.address + ":" + port);
      if (rank == own_rank) own = {{"type", type}, {"index", counts[type]}};
      ++counts[type];
    }
  }
  return to_line({{"cluster", cluster}, {"task", own}});
}

}  // namespace

Json own_program(const RunSpec& spec, int generation) {
  if (spec.is_trainer) return nullptr;
  const int of_tensorflow = spec.per_node || spec.ranks < 2 ? 0 : spec.ranks;
  const std::vector<int> ports = free_ports(spec.first_port, spec.last_port, 1 + of_tensorflow);
  if (!ports.empty()) return program_description(spec, generation, ports);
  throw Error(Exit::device, "no port of " + std::to_string(spec.first_port) + "-" + std::to_string(spec.last_port) +
                                " is free on the head for MASTER_PORT. Give the profile a wider portRange");
}

std::vector<int> free_ports(int first, int last, int count) {
  std::vector<Descriptor> held;  // until all are found, so that none is found twice
  std::vector<int> ports;
  const int span = first > 0 ? last - first + 1 : 0;
  const int begin = span > 0 ? static_cast<int>(std::random_device{}() % static_cast<unsigned>(span)) : 0;
  const int tries = span > 0 ? span : std::min(kMostTries, count);
  for (int i = 0; i < tries && static_cast<int>(ports.size()) < count; ++i) {
    Descriptor fd = hold_port(span > 0 ? first + ((begin + i) % span) : 0);
    const int port = fd ? port_of(fd) : 0;
    if (port == 0) continue;
    ports.push_back(port);
    held.push_back(std::move(fd));
  }
  return ports;
}

Json program_description(const RunSpec& spec, int generation, const std::vector<int>& ports) {
  Json nodes = Json::array();
  for (const NodeSpec& node : spec.nodes) {
    if (!node.has_ranks()) continue;
    nodes.push_back(
        {{"address", node.address}, {"processes", node.slots}, {"workers", node.workers}, {"tasks", node.tasks}});
  }
  if (nodes.empty()) {
    nodes.push_back({{"address", "127.0.0.1"}, {"processes", spec.ranks}, {"workers", spec.workers}});
  }
  Json description{{"perNode", spec.per_node},
                   {"generation", generation},
                   {"maxRestarts", spec.max_restarts},
                   {"stopGrace", spec.stop_grace},
                   {"id", spec.id},
                   {"nodes", nodes},
                   {"ports", ports},
                   {"env", Json(spec.env)}};
  if (!spec.environment.empty()) description["environment"] = spec.environment;
  if (spec.debug) {
    description["debug"] = {{"rank", spec.debug->rank}, {"target", spec.debug->target}, {"script", spec.debug->script}};
  }
  return description;
}

std::map<std::string, std::string> program_names(const Json& description, RankPlace place) {
  const Fields fields(description, "program");
  const std::vector<Group> groups = read_groups(fields);
  const std::vector<int> ports = read_ports(fields);
  int size = 0, node = 0;
  for (size_t index = 0; index < groups.size(); ++index) {
    if (place.rank >= size) node = static_cast<int>(index);
    size += groups[index].processes;
  }
  const Group& own = groups[static_cast<size_t>(node)];

  std::map<std::string, std::string> names;
  const auto set = [&names](const std::vector<const char*>& all, const std::string& value) {
    for (const char* name : all) names[name] = value;
  };
  set({"GROUP_RANK", "NODE_RANK"}, std::to_string(node));
  set({"GROUP_WORLD_SIZE", "NNODES"}, std::to_string(groups.size()));
  set({"MASTER_ADDR"}, groups.front().address);
  if (!ports.empty()) set({"MASTER_PORT"}, std::to_string(ports.front()));
  set({"TORCHELASTIC_RESTART_COUNT"}, std::to_string(fields.integer("generation", 1, INT32_MAX) - 1));
  set({"TORCHELASTIC_MAX_RESTARTS"}, std::to_string(fields.integer("maxRestarts", 0, INT32_MAX)));
  if (fields.boolean_or("perNode", false)) {
    names["PET_NNODES"] = names["NNODES"];
    names["PET_NODE_RANK"] = names["NODE_RANK"];
    names["PET_NPROC_PER_NODE"] = std::to_string(own.workers);
    names["PET_MASTER_ADDR"] = names["MASTER_ADDR"];
    if (!ports.empty()) names["PET_MASTER_PORT"] = names["MASTER_PORT"];
  } else {
    set({"TORCHELASTIC_RUN_ID"}, fields.string("id"));  // PyTorch takes it for the sign of a numbered worker
    set({"RANK", "ROLE_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}, std::to_string(place.rank));
    set({"WORLD_SIZE", "ROLE_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"}, std::to_string(size));
    set({"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}, std::to_string(place.local_rank));
    set({"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}, std::to_string(own.processes));
    set({"OMPI_COMM_WORLD_NODE_RANK", "SLURM_NODEID"}, std::to_string(node));
    set({"SLURM_NNODES"}, std::to_string(groups.size()));
    const std::string config = size > 1 ? tf_config(groups, ports, place.rank) : "";
    if (!config.empty()) names["TF_CONFIG"] = config;
  }
  for (const auto& [name, value] : fields.string_map_or_empty("env")) names.erase(name);  // the user's own wins
  return names;
}

bool is_of_another_launch(const std::string& name, bool per_node) {
  if (name == "SLURM_TMPDIR") return false;
  for (const char* family : {"OMPI_", "PET_", "SLURM_", "TORCHELASTIC_"}) {
    if (name.starts_with(family)) return true;
  }
  if (!per_node) return name == "TF_CONFIG";
  static constexpr std::array kOfRanks{"RANK",       "ROLE_RANK",        "WORLD_SIZE", "ROLE_WORLD_SIZE",
                                       "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TF_CONFIG"};
  const bool of_mpiexec = name.starts_with("PMI") || name.starts_with("MPI_LOCAL");
  return of_mpiexec || std::ranges::find(kOfRanks, name) != kOfRanks.end();
}

}  // namespace trainyard
