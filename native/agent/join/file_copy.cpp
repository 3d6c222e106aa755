#include "agent/join/file_copy.h"

#include <algorithm>
#include <cstdio>

#include "agent/join/join_head.h"
#include "agent/system/clock.h"
#include "agent/system/paths.h"

namespace trainyard {

namespace {

constexpr size_t kFilesInMessage = 100;
constexpr double kSilentSeconds = 60;  // of a head whose disk is slow
constexpr double kEndSeconds = 2;

}  // namespace

FileCopy::FileCopy(JoinSpec spec, const std::string& greeting, std::string dir, IncomingFiles::Accepts accepts,
                   IncomingFiles::PartOf part_of)
    : spec_(std::move(spec)), dir_(std::move(dir)), incoming_(dir_, std::move(accepts), std::move(part_of)) {
  spec_.host = greeting;
}

void FileCopy::run(const std::atomic<bool>& last, const std::atomic<bool>& over) {
  HeadConnection head(spec_, kSilentSeconds);
  while (!over && !is_finished_ && !(last && head.wire() == nullptr)) {
    head.wait();
    if (head.step()) begin(*head.wire());
    while (const auto message = head.next()) {
      try {
        obey(*message, *head.wire());
      } catch (const std::exception& error) {
        fail(error.what(), *head.wire());
      }
      if (head.wire() == nullptr) break;
    }
  }
  incoming_.give_up();
  ended();
}

void FileCopy::begin(Wire& wire) {
  incoming_.begin();
  ended();
  is_failed_ = is_finished_ = false;
  try {
    make_private_folders(dir_);
    const std::vector<MirroredFile> files = files_here();
    for (size_t at = 0; at < files.size(); at += kFilesInMessage) {
      Json some = Json::array();
      for (size_t index = at; index < std::min(files.size(), at + kFilesInMessage); ++index) {
        some.push_back({files[index].path, files[index].size, files[index].time});
      }
      wire.send({{"kind", "have"}, {"files", some}});
    }
  } catch (const std::exception& error) {
    return fail(error.what(), wire);
  }
  wire.send({{"kind", "ask"}});
}

/// The head leaves this connection.
void FileCopy::fail(const std::string& why, Wire& wire) {
  incoming_.give_up();
  ended();
  if (!is_failed_) wire.send({{"kind", "failed"}, {"why", why}});
  is_failed_ = true;
}

void FileCopy::obey(const Json& message, Wire& wire) {
  if (message.value("kind", "") == "bye") is_finished_ = true;
  if (is_failed_) return;
  const Fields fields(message, "message");
  const std::string kind = fields.string("kind");
  check(kind, fields);
  if (incoming_.obey(kind, fields, wire)) return obeyed(kind, fields);
  if (kind != "pass") return;
  passed(fields);
  wire.send({{"kind", "passed"}});
}

FileCopyThread::FileCopyThread(std::unique_ptr<FileCopy> copy, const std::string& what)
    : flags_(std::make_shared<Flags>()) {
  thread_ = std::thread([copy = std::move(copy), what, flags = flags_] {
    try {
      copy->run(flags->last, flags->over);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "agent: error: %s ended: %s\n", what.c_str(), error.what());
    }
    flags->ended = true;
  });
}

FileCopyThread::~FileCopyThread() {
  flags_->over = true;
  const double deadline = monotonic_seconds() + kEndSeconds;
  while (!flags_->ended && monotonic_seconds() < deadline) sleep_ms(10);
  flags_->ended ? thread_.join() : thread_.detach();
}

}  // namespace trainyard
