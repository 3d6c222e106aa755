// What an RPC method answers instead of a result (docs/contracts/rpc.md, Framing).
#pragma once
#include <stdexcept>
#include <string>

namespace trainyard {

enum class RpcCode : int {
  parse_error = -32700,
  invalid_request = -32600,
  no_such_method = -32601,
  invalid_params = -32602,
  internal = -32603,
  not_found = 1,
  bad_state = 2,
  input_output = 3,
  refused = 4,
  taken = 5
};

class RpcError : public std::runtime_error {
 public:
  RpcError(RpcCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  RpcCode code() const { return code_; }

 private:
  RpcCode code_;
};

}  // namespace trainyard
