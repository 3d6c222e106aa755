// The agent's lines: cut into frames however they arrive, and parsed as JSON.
#include "agent/messages/frames.h"

#include <unistd.h>

#include <algorithm>

#include "agent/messages/json.h"
#include "fuzz/target.h"

namespace trainyard::fuzz {

namespace {

void parse(const std::string& text) {
  try {
    const Json value = parse_json(text);
    const std::string line = to_line(value);
    require(line.find('\n') == std::string::npos, "a frame is one line");
    require(to_line(parse_json(line)) == line, "what was written is read as the same");
    if (!value.is_object()) return;
    const Fields fields(value, "input");
    fields.find("id");
    fields.integer_or("id", 0, -100, 100);
    fields.string_map_or_empty("params");
  } catch (const FieldError&) {
    return;
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {"\x40\x10{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"hello\"}\n{\"id\":2,\"params\":{\"path\":\"/a\"}}\n",
          "\x05\x01[1,2.5e3,null]\n\n\"\\u00e9\"\n"};
}

/// The first byte is the longest line, the second how many bytes arrive at once.
void run(std::string_view input) {
  if (input.size() < 2) return;
  const size_t limit = static_cast<unsigned char>(input[0]) * size_t{8} + 1;
  const size_t piece = static_cast<unsigned char>(input[1]) + size_t{1};
  input.remove_prefix(2);
  input = input.substr(0, 16384);
  int ends[2];
  require(::pipe(ends) == 0, "a pipe");
  const Descriptor from(ends[0]);
  Descriptor to(ends[1]);
  LineReader reader(from.get(), limit);
  size_t whole = 0;
  for (size_t at = 0; at < input.size(); at += piece) {
    const std::string_view part = input.substr(at, piece);
    require(::write(to.get(), part.data(), part.size()) == static_cast<ssize_t>(part.size()), "a pipe takes it");
    require(reader.fill(), "the pipe is open");
    while (const auto line = reader.next()) {
      ++whole;
      require(line->text.size() <= limit, "no line is longer than the limit");
      require(line->text.find('\n') == std::string::npos, "a line has no newline");
      require(!line->too_long || line->text.empty(), "a long line is thrown away");
      if (!line->too_long) parse(line->text);
    }
  }
  require(whole == static_cast<size_t>(std::count(input.begin(), input.end(), '\n')), "every line comes once");
}

}  // namespace trainyard::fuzz
