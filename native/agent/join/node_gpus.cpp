#include "agent/join/node_gpus.h"

#include <unistd.h>

#include "agent/join/node_ranks.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr double kAgainSeconds = 2;  // after an error

}  // namespace

NodeGpus::NodeGpus(const RunFolder& folder, const std::string& host, int lock_fd, GpuLocks locks)
    : folder_(folder), host_(host), lock_fd_(lock_fd), locks_(std::move(locks)) {
  stand_guard();
}

/// One that has the locks which this node has now, in place of an earlier one.
void NodeGpus::stand_guard() {
  const std::string mark = node_mark(folder_, host_);
  guard_ = std::make_unique<Guard>([mark] { return find_by_environment(mark, {::getpid()}); }, lock_fd_,
                                   locks_.descriptors());
}

bool NodeGpus::obey(const Json& message, Wire& wire) {
  const Fields fields(message, "message");
  const std::string kind = fields.string("kind");
  if (kind == "queue") {
    enter(fields);
    tell(wire, wait_->text());
  } else if (kind == "take") {
    may_take_ = may_take_ || fields.string("ticket") == ticket_;
  } else if (kind == "leave_queue") {
    if (fields.boolean_or("keep", false)) {
      wait_.reset();
      ticket_.clear();
    } else {
      give_back();
    }
  } else {
    return false;
  }
  return true;
}

/// With a ticket that it has already it stays where it is, whatever it has taken.
void NodeGpus::enter(const Fields& message) {
  const GpuTicket ticket = gpu_ticket(message);
  std::optional<int64_t> number;
  if (message.find("number") != nullptr) number = message.integer("number", 0, INT64_MAX);
  if (!wait_ || ticket.id != ticket_) {
    give_back();  // of an earlier ticket, or what a client passed on: now the queue decides
    const std::string run = folder_.dir().substr(folder_.dir().rfind('/') + 1);
    wait_ = std::make_unique<GpuWait>(ticket, GpuHolder{run, folder_.dir()}, host_, number);
    ticket_ = ticket.id;
  } else if (number && *number != wait_->number()) {
    wait_->come_at(*number);
  }
}

void NodeGpus::tell(Wire& wire, const std::string& text) {
  Json message{{"kind", "queued"}, {"ticket", ticket_}, {"number", wait_->number()}};
  if (!text.empty()) message["text"] = text;
  sent_text_ = text;
  wire.send(message);
  if (has_taken_) wire.send({{"kind", "taken"}, {"ticket", ticket_}, {"gpus", wait_->taken()}});
}

bool NodeGpus::look(Wire* wire) {
  if (!wait_ || !may_take_ || has_taken_ || monotonic_seconds() < next_look_) return false;
  std::string text;
  try {
    if (wait_->taken().empty()) {
      if (std::optional<GpuLocks> locks = wait_->look()) locks_.add(std::move(*locks));
    }
    if (!wait_->taken().empty()) {
      stand_guard();
      has_taken_ = true;
    }
    text = wait_->text();
  } catch (const std::exception& error) {
    text = "waiting for " + host_ + ", which cannot take its GPUs and tries again: " + error.what();
    next_look_ = monotonic_seconds() + kAgainSeconds;
  }
  if (wire != nullptr && (has_taken_ || sent_text_ != text)) tell(*wire, text);
  return has_taken_;
}

void NodeGpus::give_back() {
  wait_.reset();
  ticket_.clear();
  sent_text_.clear();
  may_take_ = has_taken_ = false;
  locks_.give_back();
}

}  // namespace trainyard
