// mpiexec's command lines, and what it prints when others are to start its proxies.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "agent/run/folder/run_folder.h"
#include "agent/run/folder/run_spec.h"

namespace trainyard {

/// All ranks on this machine, started by mpiexec's own proxy.
std::vector<std::string> local_launch(const RunFolder& folder, const RunSpec& spec, int generation);

/// Ranks on `nodes`, the head first, whose proxies are started by others. A head without ranks gets
/// no proxy. It names no path, since those differ from node to node.
std::vector<std::string> spread_launch(const RunSpec& spec, const std::vector<NodeSpec>& nodes);

/// The words after the proxy's own path of a line `HYDRA_LAUNCH: …`; nothing for another line.
/// `address`: where mpiexec runs, in place of its own idea of that. `interface` auto: none is
/// prescribed to the other nodes.
struct ProxyLine {
  size_t index = 0;  ///< of the node among those that mpiexec was given
  std::vector<std::string> words;
};
std::optional<ProxyLine> parse_proxy_line(const std::string& line, const std::string& address,
                                          const std::string& interface);

/// The interface that holds `address` (a name or an IPv4 address); empty when none does.
std::string interface_of(const std::string& address);

/// "47000:47100", or empty where any port will do.
std::string port_range_words(const RunSpec& spec, char between);

}  // namespace trainyard
