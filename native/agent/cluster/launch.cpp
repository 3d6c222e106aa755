#include "agent/cluster/launch.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <cstdlib>
#include <sstream>

#include "agent/connection/addresses.h"

namespace trainyard {

std::vector<std::string> local_launch(const RunFolder& folder, const RunSpec& spec, int generation) {
  // The ranks' command line goes by a file: mpiexec takes a word ":" for its own separator. Without
  // automatic clean-up it leaves the other ranks to us when one fails; `-iface lo` keeps it from
  // looking the host name up.
  std::vector<std::string> line{spec.mpiexec,
                                "-disable-auto-cleanup",
                                "-rmk",
                                "user",
                                "-launcher",
                                "fork",
                                "-iface",
                                "lo",
                                "-n",
                                std::to_string(spec.ranks),
                                spec.agent,
                                "rank",
                                "--run-dir",
                                folder.dir(),
                                "--generation",
                                std::to_string(generation),
                                "--command-file",
                                folder.command(generation)};
  const std::string cwd = spec.has_code ? folder.code() : spec.cwd;
  if (!cwd.empty()) line.insert(line.end(), {"--cwd", cwd});
  return line;
}

std::vector<std::string> spread_launch(const RunSpec& spec, const std::vector<NodeSpec>& nodes) {
  std::string hosts;
  int ranks = 0;
  for (const NodeSpec& node : nodes) {
    if (!node.has_ranks()) continue;
    hosts += (hosts.empty() ? "" : ",") + node.address + ":" + std::to_string(node.slots);
    ranks += node.slots;
  }
  // Environment, folder and the agent's path come from each node's `agent join`, which puts them
  // into the proxy's environment: here only the name stands. `-genvlist` keeps the head's
  // environment out of it.
  std::vector<std::string> line{
      spec.mpiexec, "-disable-auto-cleanup", "-rmk", "user", "-launcher", "manual", "-genvlist", "none", "-wdir", "/"};
  const std::string interface = spec.interface == "auto" ? interface_of(nodes.front().address) : spec.interface;
  if (!interface.empty()) line.insert(line.end(), {"-iface", interface});
  line.insert(line.end(), {"-hosts", hosts, "-n", std::to_string(ranks), "agent", "rank"});
  return line;
}

std::optional<ProxyLine> parse_proxy_line(const std::string& line, const std::string& address,
                                          const std::string& interface) {
  const size_t begin = line.find(" --control-port ");  // the path before it may hold blanks
  if (!line.starts_with("HYDRA_LAUNCH: ") || begin == std::string::npos) return std::nullopt;
  std::istringstream rest(line.substr(begin));
  ProxyLine proxy;
  bool has_index = false;
  for (std::string word, value; rest >> word;) {
    if (word == "--iface" && interface == "auto") {
      rest >> value;
      continue;
    }
    proxy.words.push_back(word);
    if (word == "--control-port" && rest >> value) {
      proxy.words.push_back(address + value.substr(value.rfind(':')));
    } else if (word == "--proxy-id" && rest >> value) {
      proxy.words.push_back(value);
      proxy.index = std::strtoul(value.c_str(), nullptr, 10);
      has_index = true;
    }
  }
  return has_index ? std::optional(proxy) : std::nullopt;
}

std::string interface_of(const std::string& address) {
  const auto wanted = resolve_own(address);
  ifaddrs* all = nullptr;
  if (!wanted || ::getifaddrs(&all) != 0) return "";
  std::string name;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    const auto* held = reinterpret_cast<const sockaddr_in*>(one->ifa_addr);
    const auto* mask = reinterpret_cast<const sockaddr_in*>(one->ifa_netmask);
    // Every address of 127.0.0.0/8 is the loopback interface's own.
    const bool loopback = mask != nullptr && (ntohl(wanted->s_addr) >> 24) == 127 &&
                          ((held->sin_addr.s_addr ^ wanted->s_addr) & mask->sin_addr.s_addr) == 0;
    if (loopback || held->sin_addr.s_addr == wanted->s_addr) name = one->ifa_name;
    if (!name.empty()) break;
  }
  ::freeifaddrs(all);
  return name;
}

std::string port_range_words(const RunSpec& spec, char between) {
  return spec.first_port == 0 ? "" : std::to_string(spec.first_port) + between + std::to_string(spec.last_port);
}

}  // namespace trainyard
