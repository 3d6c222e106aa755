#include "agent/join/node_ranks.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "agent/connection/control_channel.h"
#include "agent/ranks/rank.h"
#include "agent/ranks/rank_environment.h"
#include "agent/run/gpu_pins.h"
#include "agent/system/kill.h"
#include "agent/system/paths.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr int kMostRanks = 4096;

std::string expanded(const std::string& word) { return word.starts_with("~/") ? expand_path(word) : word; }

}  // namespace

JoinSpec read_join_spec(const RunFolder& folder, const std::string& host) {
  const Json json = parse_json(read_file(folder.node(host, "join.json")));
  const Fields fields(json, "join.json");
  JoinSpec spec;
  spec.host = host;
  spec.address = fields.string("address");
  spec.port = static_cast<int>(fields.integer("port", 1, 65535));
  spec.key = fields.string("key");
  const Json* given = fields.find("paths");
  if (given == nullptr) throw FieldError("join.json.paths is missing");
  const Fields paths(*given, "join.json.paths");
  spec.trainer = expanded(paths.optional_string("trainer").value_or(""));
  spec.proxy = expanded(paths.string("proxy"));
  return spec;
}

std::string node_mark(const RunFolder& folder, const std::string& host) {
  return std::string(kCommandVariable) + "=" + folder.node(host, "command.json");
}

Environment NodeRanks::environment(const Json& message) const {
  const Fields fields(message, "generation");
  Environment env =
      rank_environment(folder_, generation_, static_cast<int>(fields.integer("threads", 1, 4096)),
                       fields.string_map_or_empty("env"), gpus_of(message, "gpus", count(), "generation"));
  env["TRAINYARD_HOST"] = spec_.host;
  env[kCommandVariable] = folder_.node(spec_.host, "command.json");
  const auto path = env.find("PATH");  // mpiexec knows the agent only by name
  env["PATH"] = std::filesystem::path(own_executable()).parent_path().string() + ":" +
                (path == env.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second);
  for (const auto& [name, value] : fields.string_map_or_empty("network")) env.emplace(name, value);
  return env;
}

void NodeRanks::begin(const Json& message) {
  const Fields fields(message, "generation");
  generation_ = static_cast<int>(fields.integer("number", 1, INT32_MAX));
  first_ = static_cast<int>(fields.integer("first", 0, kMostRanks));
  ranks_.assign(static_cast<size_t>(fields.integer("count", 1, kMostRanks)), Rank());

  std::vector<std::string> command = fields.strings("argv");
  is_training_ = fields.boolean_or("trainer", false);
  for (std::string& word : command) word = expanded(word);
  if (is_training_) {
    command.insert(command.begin(), spec_.trainer);
    command.insert(command.end(), {"--run-dir", folder_.dir()});
  }
  const std::string given = fields.optional_string("cwd").value_or("");
  const std::string cwd = given.empty() ? folder_.dir() : expand_path(given);
  const bool has_code = fields.boolean_or("code", false);
  const Json* program = fields.find("program");
  const Json file =
      command_file(command, has_code ? folder_.code() : cwd, fields.optional_string("prologue").value_or(""),
                   program == nullptr ? Json(nullptr) : *program);
  replace_file(folder_.node(spec_.host, "command.json"), to_line(file) + "\n");

  folder_.remove_records(generation_, first_, count());
  // Ranks of an earlier generation read as ours otherwise: the head tells them apart by their text
  // alone.
  std::error_code ignored;
  for (int rank = first_; rank < first_ + count(); ++rank) {
    std::filesystem::remove(folder_.heartbeat(rank), ignored);
  }
  Command proxy;
  proxy.argv = {spec_.proxy};
  for (const std::string& word : fields.strings("proxy")) proxy.argv.push_back(word);
  proxy.env = environment(message);
  proxy.cwd = folder_.dir();
  proxy.log = folder_.node(spec_.host, "proxy.log");
  proxy.death_signal = SIGKILL;
  SocketPair ends = make_stream_pair();
  proxy.env["HYDI_CONTROL_FD"] = std::to_string(ends.theirs.get());  // Hydra's name; so it connects to no port
  proxy.passed = {ends.theirs.get()};
  control_ = RelayedStream(generation_);
  proxy_ = start_child(proxy);
  control_.attach(std::move(ends.ours));
}

NodeRanks::Rank* NodeRanks::find(int rank) {
  if (rank < first_ || rank >= first_ + count()) return nullptr;
  return &ranks_[static_cast<size_t>(rank - first_)];
}

bool NodeRanks::has_ended(int rank) const { return file_exists(folder_.exit_record(generation_, rank)); }

void NodeRanks::terminate(const std::vector<int>& ranks) {
  for (const int number : ranks) {
    if (Rank* rank = find(number)) rank->asked = true;
  }
  look();
}

void NodeRanks::look() {
  for (int number = first_; number < first_ + count(); ++number) {
    Rank& rank = *find(number);
    if (!rank.started) {
      const auto json = read_json_object(folder_.start_record(generation_, number));
      if (json) rank.started = parse_start_record(*json, number);
    }
    if (rank.asked && !rank.terminated && rank.started) {
      rank.terminated = true;
      signal_process(rank.started->program.process, SIGTERM);
    }
  }
}

std::vector<int> NodeRanks::newly_gone() {
  std::vector<int> gone;
  const bool proxy_lives = proxy_ && is_alive(*proxy_);
  for (int number = first_; number < first_ + count(); ++number) {
    Rank& rank = *find(number);
    if (rank.told_gone || has_ended(number)) continue;
    const bool lives =
        rank.started ? is_alive(rank.started->program.process) || is_alive(rank.started->wrapper) : proxy_lives;
    if (lives || has_ended(number)) continue;
    rank.told_gone = true;
    gone.push_back(number);
  }
  return gone;
}

bool NodeRanks::all_ended() const {
  for (int number = first_; number < first_ + count(); ++number) {
    if (!has_ended(number)) return false;
  }
  return true;
}

void NodeRanks::forget_told_gone() {
  for (Rank& rank : ranks_) rank.told_gone = false;
}

std::vector<RankProcess> NodeRanks::programs() const {
  std::vector<RankProcess> programs;
  for (const Rank& rank : ranks_) {
    if (rank.started) programs.push_back(rank.started->program);
  }
  return programs;
}

void NodeRanks::kill_programs(const std::vector<int>& ranks) const {
  std::vector<StartedRank> pending;
  for (const int number : ranks) {
    const auto index = static_cast<size_t>(number - first_);
    if (number < first_ || index >= ranks_.size() || !ranks_[index].started || has_ended(number)) continue;
    pending.push_back(*ranks_[index].started);
  }
  Sweep([&pending] { return find_programs(pending); }).step();
}

std::vector<NamedProcess> NodeRanks::kill_everything(const std::set<int>& spared) const {
  Sweep sweep([this, &spared] {
    std::vector<NamedProcess> all = find_by_environment(node_mark(folder_, spec_.host), spared);
    const std::vector<NamedProcess> below = find_descendants(::getpid(), spared);
    all.insert(all.end(), below.begin(), below.end());
    return all;
  });
  sweep.step();
  return sweep.left();
}

}  // namespace trainyard
