#include "agent/join/node_gpus.h"

#include <unistd.h>

#include <cstdio>

#include "agent/join/node_ranks.h"

namespace trainyard {

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
    tell(wire);
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

void NodeGpus::tell(Wire& wire) {
  Json message{{"kind", "queued"}, {"ticket", ticket_}, {"number", wait_->number()}};
  if (!wait_->text().empty()) message["text"] = wait_->text();
  told_ = wait_->text();
  wire.send(message);
  if (has_taken_) wire.send({{"kind", "taken"}, {"ticket", ticket_}, {"gpus", wait_->taken()}});
}

bool NodeGpus::look(Wire* wire) {
  if (!wait_ || !may_take_ || has_taken_) return false;
  try {
    if (std::optional<GpuLocks> locks = wait_->look()) {
      has_taken_ = true;
      locks_.add(std::move(*locks));
      stand_guard();
    }
    if (wire != nullptr && (has_taken_ || told_ != wait_->text())) tell(*wire);
  } catch (const std::exception& error) {
    if (wire == nullptr) return false;  // the head could not hear of it: the next look tries again
    std::fprintf(stderr, "agent: error: %s\n", error.what());
    give_back();
    wire->send({{"kind", "trouble"}, {"message", error.what()}});
  }
  return has_taken_;
}

void NodeGpus::give_back() {
  wait_.reset();
  ticket_.clear();
  told_.clear();
  may_take_ = has_taken_ = false;
  locks_.give_back();
}

}  // namespace trainyard
