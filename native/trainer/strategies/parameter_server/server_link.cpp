#include "trainer/strategies/parameter_server/server_link.h"

#include <bit>
#include <tuple>

namespace trainyard {

using namespace server_messages;

ServerLink::ServerLink(const Team& team, const Variables& variables, const OptimizerOptions& optimizer)
    : world_(team.world()),
      servers_(team.servers()),
      workers_(team.workers()),
      variables_(variables),
      shards_(shard_parameters(variables.ranges, servers_.size(), optimizer.kind == "lars")),
      packed_(variables.weights.size()) {
  size_t offset = 0;
  for (const Shard& shard : shards_) {
    offsets_.push_back(offset);
    offset += shard.size;
  }
  if (!leader()) return;
  memory_ = make_optimizer(optimizer, variables.ranges, variables.weights.size());
  for (size_t s = 0; s < servers_.size(); ++s) {
    const std::vector<ParameterRange> ranges = shards_[s].ranges();
    const auto count = static_cast<double>(ranges.size());
    std::vector<double> table;
    for (const ParameterRange& range : ranges) {
      table.insert(table.end(),
                   {static_cast<double>(range.offset), static_cast<double>(range.size), range.adapt ? 1.0 : 0.0});
    }
    const auto transfers = mailbox().transfers();
    transfers->send(servers_[s], kSetup, std::span<const double>(&count, 1));
    transfers->send(servers_[s], kSetup, std::span<const double>(table));
    transfers->wait();
  }
}

std::vector<OptimizerState> ServerLink::state() { return memory_ ? memory_->state() : std::vector<OptimizerState>{}; }

std::span<float> ServerLink::part(std::span<float> packed, size_t server) const {
  return packed.subspan(offsets_[server], shards_[server].size);
}

void ServerLink::send_arena(std::span<const float> arena) {
  const auto transfers = mailbox().transfers();
  for (size_t s = 0; s < servers_.size(); ++s) {
    shards_[s].pack(arena, part(packed_, s));
    transfers->send(servers_[s], kVariables, std::span<const float>(part(packed_, s)));
  }
  transfers->wait();
}

void ServerLink::receive_arena(std::span<float> arena) {
  const auto transfers = mailbox().transfers();
  for (size_t s = 0; s < servers_.size(); ++s) transfers->receive(servers_[s], kVariables, part(packed_, s));
  transfers->wait();
  for (size_t s = 0; s < servers_.size(); ++s) shards_[s].unpack(part(packed_, s), arena);
}

void ServerLink::distribute(Communicator& workers) {
  workers.broadcast(variables_.weights, 0);
  if (!leader()) return;
  send_arena(variables_.weights);
  for (const OptimizerState& state : state()) send_arena(state.values);
}

void ServerLink::collect() {
  if (!leader()) return;
  ask_all({.ask = static_cast<double>(Ask::collect)});
  receive_arena(variables_.weights);
  for (const OptimizerState& state : state()) receive_arena(state.values);
}

void ServerLink::ask_all(const Request& request) {
  const auto numbers = std::bit_cast<RequestNumbers>(request);
  const auto transfers = mailbox().transfers();
  for (const int server : servers_) transfers->send(server, kRequest, std::span<const double>(numbers));
  transfers->wait();
}

std::vector<ServerFigures> ServerLink::figures(std::vector<RankFigures>& ranks, Figures& first) {
  ask_all({.ask = static_cast<double>(Ask::report)});
  std::vector<FigureNumbers> numbers(servers_.size());
  const auto transfers = mailbox().transfers();
  for (size_t s = 0; s < servers_.size(); ++s) {
    transfers->receive(servers_[s], kFigures, std::span<double>(numbers[s]));
  }
  transfers->wait();
  std::vector<ServerFigures> found;
  for (size_t s = 0; s < servers_.size(); ++s) {
    const auto figures = std::bit_cast<Figures>(numbers[s]);
    found.push_back(figures.server);
    ranks[static_cast<size_t>(servers_[s])] = figures.memory;
    if (s == 0) first = figures;
  }
  return found;
}

void ServerLink::pushed_figures(std::vector<RankFigures>& ranks) {
  std::vector<double> numbers(std::tuple_size_v<RankNumbers> * ranks.size());
  const auto transfers = mailbox().transfers();
  transfers->receive(servers_.front(), kRankFigures, std::span<double>(numbers));
  transfers->wait();
  const std::vector<RankFigures> pushed = rank_figures(numbers);
  for (const int worker : workers_) ranks[static_cast<size_t>(worker)] = pushed[static_cast<size_t>(worker)];
}

void ServerLink::send_gradients(Transfers& transfers) {
  for (size_t s = 0; s < servers_.size(); ++s) {
    shards_[s].pack(variables_.gradients, part(packed_, s));
    transfers.send(servers_[s], kGradient, std::span<const float>(part(packed_, s)));
  }
}

void ServerLink::receive_weights(Transfers& transfers) {
  for (size_t s = 0; s < servers_.size(); ++s) {
    transfers.receive(servers_[s], kWeights, part(variables_.gradients, s));
  }
}

void ServerLink::unpack_weights() {
  for (size_t s = 0; s < servers_.size(); ++s) shards_[s].unpack(part(variables_.gradients, s), variables_.weights);
}

}  // namespace trainyard
