#include "agent/cluster/head_figures.h"

#include <cstdio>
#include <limits>
#include <sstream>

#include "common/process.h"

namespace trainyard {

namespace {

constexpr size_t kKept = 4 << 20;  // bytes of lines, while the disk is full
constexpr double kMost = std::numeric_limits<double>::max();

}  // namespace

HeadFigures::HeadFigures(const RunFolder& folder, const std::string& host)
    : host_(host), lines_(folder.file("figures.jsonl"), kKept, [](const LostLines&) { return std::string("{}"); }) {}

void HeadFigures::take(const Json& message) {
  const Fields fields(message, "figures");
  const auto offset = static_cast<uint64_t>(fields.integer("offset", 0, INT64_MAX));
  const std::string text = fields.string("lines");
  if (copied_.value_or(offset) != offset) throw FieldError("a node's figures do not follow the last");
  copied_ = offset + text.size();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    try {
      lines_.append(line_of(line), now_seconds());
    } catch (const FieldError& error) {  // the node would send it again and again
      std::fprintf(stderr, "agent: warning: a figure of node %s is passed over: %s\n", host_.c_str(), error.what());
    }
  }
  lines_.flush();
}

std::string HeadFigures::line_of(const std::string& text) const {
  const Json given = parse_json(text);
  const Fields fields(given, "a figure");
  const Json* value = fields.find("value");
  std::string writer = fields.string("writer");
  if (!of_the_run_ && !writer.starts_with("rank ")) writer = "node " + host_ + (writer.empty() ? "" : "/" + writer);
  return to_line({{"tag", fields.string("tag")},
                  {"step", fields.integer("step", INT64_MIN, INT64_MAX)},
                  {"value", value != nullptr && value->is_number() ? *value : Json(nullptr)},
                  {"time", fields.number_or("time", now_seconds(), std::numeric_limits<double>::lowest(), kMost)},
                  {"generation", fields.integer("generation", 1, INT32_MAX)},
                  {"writer", writer},
                  {"source", host_ + ":" + fields.string("source")}});
}

Json HeadFigures::named(const Json& fields) const {
  Json named = fields;
  const auto file = named.find("file");
  if (file != named.end() && file->is_string()) *file = host_ + ":" + file->get<std::string>();
  return named;
}

}  // namespace trainyard
