// mpiexec's control connections: one for each node, over that node's own wire.
#include <poll.h>

#include <cstdio>

#include "agent/cluster/cluster.h"
#include "agent/system/clock.h"
#include "common/error.h"

namespace trainyard {

void Cluster::take_control(ClusterNode& node, const Fields& message) {
  RelayedStream& stream = node.control;
  if (message.integer("generation", 1, INT32_MAX) != stream.generation() || node.count == 0) return;
  if (!stream.attached()) {  // its proxy has begun to speak
    Descriptor connection;
    try {
      connection = control_->connect();
    } catch (const Error& error) {  // mpiexec is gone: the proxy's stream ends
      std::fprintf(stderr, "agent: warning: %s\n", error.what());
    }
    stream.attach(std::move(connection));
  }
  stream.take(message);
}

void Cluster::pump_control(ClusterNode& node) {
  node.control.pump_local();
  if (node.is_here()) node.control.pump_wire(*node.wire);
}

void Cluster::serve_until(double deadline, int wakes) {
  for (double now; (now = monotonic_seconds()) < deadline;) {
    std::vector<pollfd> ends{{wakes, POLLIN, 0}};
    for (const ClusterNode& node : nodes_) {
      const short events = node.control.events();
      if (events != 0) ends.push_back({node.control.fd(), events, 0});
      if (!node.wire) continue;
      ends.push_back({node.wire->fd(), static_cast<short>(POLLIN | (node.wire->waiting() > 0 ? POLLOUT : 0)), 0});
    }
    const int ready = ::poll(ends.data(), ends.size(), static_cast<int>((deadline - now) * 1000) + 1);
    if (ready <= 0 || ends.front().revents != 0) return;
    for (ClusterNode& node : nodes_) serve(node);
  }
}

}  // namespace trainyard
