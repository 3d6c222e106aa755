// Event files for TensorBoard: nothing here reads them, so any tag and any text is written, and
// what was written is read back by the wire format's own reader.
#include "common/hash/crc32c.h"
#include "common/record_frame.h"
#include "fuzz/target.h"
#include "trainer/data/images/image.h"
#include "trainer/data/records/wire_reader.h"
#include "trainer/tfevents/event_messages.h"

namespace trainyard::fuzz {

namespace {

/// Whether the string stands as a field of the message or of one within it.
bool holds(ByteSource& source, Range message, std::string_view wanted, int depth) {
  WireReader fields(source, message);
  bool found = false;
  while (fields.next()) {
    if (fields.type() != WireReader::Type::bytes) continue;
    const Range value = fields.range();
    if (value.size() == wanted.size() && source.look(value.begin, wanted.size()) == wanted) return true;
    if (depth == 0) continue;
    try {
      found = holds(source, value, wanted, depth - 1) || found;
    } catch (const BadImage&) {
      continue;  // a text is no message
    }
  }
  return found;
}

void check(const std::string& event, std::string_view wanted) {
  const std::string framed = framed_record(event);
  const std::string_view view = framed;
  require(record_length(view.substr(0, kRecordHeader)) == event.size(), "a frame tells its length");
  require(is_footer_of(view.substr(kRecordHeader + event.size()), crc32c(event)), "a frame has its sum");
  MemoryBytes bytes(event);
  require(holds(bytes, {0, event.size()}, wanted, 5), "a written text can be found");
}

}  // namespace

std::vector<std::string> seeds() {
  return {"loss", "eval/top1\n# A run\n\n| a | b |", std::string("a\0b\n\xFFtext", 9)};
}

void run(std::string_view input) {
  input = input.substr(0, ByteSource::kMost);
  const std::string tag(input.substr(0, input.find('\n')));
  const std::string rest(input.substr(std::min(input.size(), tag.size() + 1)));
  check(scalar_event(tag, static_cast<int64_t>(input.size()) - 5, 1e9, 0.5F), tag);
  check(text_event(tag, 1, 1e9, rest), rest);
  const std::vector<EventGraphNode> nodes{{tag, rest, {tag, rest}, {-1, static_cast<int64_t>(rest.size())}}};
  // The graph lies in the event as bytes, a message of its own.
  check(graph_event(1e9, nodes), tag);
}

}  // namespace trainyard::fuzz
