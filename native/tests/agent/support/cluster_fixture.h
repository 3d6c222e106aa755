// Runs of several "nodes" on this machine: loopback addresses of their own, each with a workdir of
// its own.
#pragma once
#include <string>
#include <vector>

#include "agent/join/join.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {

class ClusterTest : public RunTest {
 protected:
  /// Nothing may be left on any node, its `agent join` included.
  void TearDown() override;

  /// A command on two nodes of two slots each.
  Json spread_spec(const std::vector<std::string>& argv) const;
  Json spread_script(const std::string& script) const { return spread_spec({"/bin/sh", "-c", script}); }
  /// Starts the run and lets the second node join; the head's folder.
  std::string start_spread(const Json& spec);
  /// (Again) the second node's part, by the head's own port or by another way to it; its folder.
  std::string join_second(const std::string& dir, const std::string& address = "127.0.0.2", int port = 0);
  /// Of `run.join` on the second node, for such an address of the head.
  Json join_params(const std::string& dir, const std::string& address, int port = 0) const;
  /// The second node's run folder.
  std::string second(const std::string& dir) const;
  ProcessId second_join(const std::string& dir) const;
};

}  // namespace trainyard::test
