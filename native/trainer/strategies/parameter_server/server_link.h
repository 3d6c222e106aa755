// A worker's side of the parameter servers: what goes to which server, and what comes back.
#pragma once
#include <memory>
#include <vector>

#include "trainer/strategies/parameter_server/server_messages.h"
#include "trainer/strategies/parameter_server/shards.h"
#include "trainer/strategies/team.h"

namespace trainyard {

class ServerLink {
 public:
  ServerLink(const Team& team, const Variables& variables, const OptimizerOptions& optimizer);

  bool leader() const { return world_.rank() == 0; }
  /// What the servers' optimizers remember, gathered; empty but on the leader.
  std::vector<OptimizerState> state();
  /// The leader's weights and state() become the servers'; its weights every worker's.
  void distribute(Communicator& workers);
  /// The servers' weights and memory come to the leader.
  void collect();
  /// Figures of the servers and, in the places of `ranks`, their memory. Leader only. first: what
  /// the first one knows of the workers.
  std::vector<ServerFigures> figures(std::vector<RankFigures>& ranks, server_messages::Figures& first);
  /// What workers pushed of their own memory into `ranks`; right after figures().
  void pushed_figures(std::vector<RankFigures>& ranks);
  void ask_all(const server_messages::Request& request);

  /// Gradients set off to their servers.
  void send_gradients(Transfers& transfers);
  /// The servers' new weights are received (into the gradients' memory, which is free by then) …
  void receive_weights(Transfers& transfers);
  /// … and, when they are there, unpacked.
  void unpack_weights();

  Mailbox& mailbox() { return world_.mailbox(); }
  const std::vector<int>& servers() const { return servers_; }

 private:
  std::span<float> part(std::span<float> packed, size_t server) const;
  void send_arena(std::span<const float> arena);
  void receive_arena(std::span<float> arena);

  Communicator& world_;
  std::vector<int> servers_;
  std::vector<int> workers_;
  Variables variables_;
  std::vector<Shard> shards_;
  std::vector<size_t> offsets_;        ///< of each shard in a packed arena
  std::vector<float> packed_;          ///< all shards one after the other
  std::unique_ptr<Optimizer> memory_;  ///< whole arenas to save from and load into; leader only
};

}  // namespace trainyard
