// What `agent version` and the RPC method hello say: the version in package.json.
#pragma once

namespace trainyard {

inline constexpr const char* kAgentVersion = "0.1.0";

}  // namespace trainyard
