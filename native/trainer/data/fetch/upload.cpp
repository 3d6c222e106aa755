#include "trainer/data/fetch/upload.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/error.h"
#include "trainer/data/fetch/fetch_program.h"

namespace trainyard {

namespace {

using nlohmann::json;

/// What the program says at its end: whether the object is there.
bool run(json order, const UploadOptions& options) {
  order["endpoint"] = options.s3_endpoint;
  order["budget"] = options.retry_seconds;
  bool there = false;
  std::optional<Error> error;
  const auto take = [&](const std::string& line) {
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object()) return;
    const std::string kind = said.value("kind", "");
    if (kind == "note" && options.note) options.note(said.value("text", ""));
    if (kind == "error") error = Error(Exit{said.value("code", 3)}, said.value("message", ""));
    if (kind == "done") there = said.value("there", false);
  };
  const auto address = order["url"].get<std::string>();
  const int code = run_fetch_program("upload.py", order.dump(), address, take);
  if (error) throw *error;
  if (code == 0) return there;
  throw Error(Exit::data,
              "what writes " + address + " ended with code " + std::to_string(code) + ". Run the same once more");
}

}  // namespace

bool is_bucket(const std::string& place) { return place.starts_with("s3://"); }

void upload(const std::string& path, const std::string& address, const UploadOptions& options) {
  run({{"url", address}, {"file", std::filesystem::absolute(path).string()}}, options);
}

bool is_uploaded(const std::string& address, const UploadOptions& options) { return run({{"url", address}}, options); }

}  // namespace trainyard
