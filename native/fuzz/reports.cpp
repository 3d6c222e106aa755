// What own programs report: event files, one message of them, and lines of JSON. The first byte
// chooses: a file as it stands, a message framed here, as mutations would hardly ever meet a
// checksum, or a line.
#include <unistd.h>

#include "agent/messages/json.h"
#include "agent/reports/event_file.h"
#include "agent/reports/own_lines.h"
#include "common/record_frame.h"
#include "fuzz/target.h"
#include "trainer/tfevents/event_messages.h"

namespace trainyard::fuzz {

namespace {

void read_events(std::string_view bytes) {
  const Descriptor fd = memory_file(bytes);
  EventFile file("/proc/self/fd/" + std::to_string(fd.get()));
  uint64_t before = 0;
  for (bool more = true; more;) {
    const EventFile::Read found = file.read();
    more = found.more;
    require(file.offset() > before || !more, "a walk goes on");
    before = file.offset();
    require(before <= bytes.size(), "a walk stays in its file");
    for (const Scalar& one : found.scalars) require(!one.tag.empty(), "a figure has a name");
  }
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string event = scalar_event("train/loss", 7, 1e9, 0.5F);
  const std::string text = text_event("text", 7, 1e9, "hello");
  return {"F" + framed_record(version_event(1e9)) + framed_record(event), "M" + event, "M" + text,
          "L{\"step\":1,\"time\":2.5,\"rank\":0,\"loss\":NaN,\"train/acc\":0.5}"};
}

void run(std::string_view input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  if (input.front() == 'F') return read_events(rest);
  if (input.front() == 'M') return read_events(framed_record(rest));
  try {
    for (const Scalar& one : read_own_line(std::string(rest), 1).scalars)
      require(!one.tag.empty(), "a figure has a name");
  } catch (const FieldError&) {
    return;
  }
}

}  // namespace trainyard::fuzz
