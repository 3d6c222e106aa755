// What `agent version` and the RPC method hello say.
#pragma once

namespace trainyard {

inline constexpr const char* kAgentVersion = TRAINYARD_VERSION;

}  // namespace trainyard
