#include "agent/run/folder/batch_share.h"

#include <cstdint>
#include <cstdlib>

#include "common/batch_size.h"

namespace trainyard {

namespace {

int64_t number_of(const std::vector<std::string>& argv, const std::string& flag, int64_t usual) {
  const auto text = flag_value(argv, flag);
  return text ? std::strtoll(text->c_str(), nullptr, 10) : usual;
}

}  // namespace

std::optional<std::string> flag_value(const std::vector<std::string>& argv, const std::string& flag) {
  for (size_t index = 0; index < argv.size(); ++index) {
    if (argv[index] == flag && index + 1 < argv.size()) return argv[index + 1];
    if (argv[index].starts_with(flag + "=")) return argv[index].substr(flag.size() + 1);
  }
  return std::nullopt;
}

bool shares_batch(const std::vector<std::string>& argv, int planned, int ranks) {
  if (flag_value(argv, "--strategy").value_or("").starts_with("parameter-server")) return true;
  const int64_t batch = number_of(argv, "--batch-size", kUsualBatchSize) * number_of(argv, "--accumulate", 1);
  return ranks > 0 && (batch * planned) % ranks == 0;
}

}  // namespace trainyard
