#include "trainer/tfevents/event_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "common/error.h"
#include "common/process.h"
#include "trainer/tfevents/event_messages.h"
#include "trainer/tfevents/record_file.h"

namespace trainyard {

struct EventWriter::Impl {
  RecordFile file;
};

namespace {

// TensorBoard reads a folder's files in the order of their names: the time comes first, with a
// fixed number of digits.
RecordFile create_file(const std::string& folder, double time) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    errno = error.value();
    throw file_error("create", folder);
  }
  const std::string seconds = std::to_string(static_cast<int64_t>(time));
  const std::string start = folder + "/events.out.tfevents." +
                            std::string(10 - std::min<size_t>(10, seconds.size()), '0') + seconds + "." + host_name() +
                            "." + std::to_string(::getpid()) + ".";
  for (int number = 0;; ++number) {
    std::string path = start + std::to_string(number);
    Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (fd) return RecordFile(std::move(fd), std::move(path));
    if (errno != EEXIST) throw file_error("create", path);
  }
}

}  // namespace

EventWriter::EventWriter(const std::string& folder) {
  const double time = now_seconds();
  impl_ = std::make_unique<Impl>(create_file(folder, time));
  impl_->file.append(version_event(time));
  try {
    flush();
  } catch (const Error&) {
    ::unlink(impl_->file.path().c_str());  // the next try makes another one
    throw;
  }
}

EventWriter::~EventWriter() {
  try {
    flush();
  } catch (const Error& error) {  // a destructor must not throw; curves are not worth a run
    std::fprintf(stderr, "trainer: warning: %s. The last points of the curves are missing.\n", error.what());
  }
}

void EventWriter::scalar(const std::string& tag, int64_t step, double wall_time, float value) {
  impl_->file.append(scalar_event(tag, step, wall_time, value));
}

void EventWriter::graph(std::span<const EventGraphNode> nodes) {
  impl_->file.append(graph_event(now_seconds(), nodes));
}

void EventWriter::text(const std::string& tag, int64_t step, double wall_time, const std::string& markdown) {
  impl_->file.append(text_event(tag, step, wall_time, markdown));
}

void EventWriter::flush() { impl_->file.flush(); }

}  // namespace trainyard
