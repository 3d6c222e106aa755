#include "agent/connection/relayed_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "agent/messages/base64.h"

namespace trainyard {

namespace {

constexpr size_t kWindow = 1 << 20;    // bytes that may wait for their confirmation
constexpr size_t kMessage = 64 << 10;  // bytes of the stream in one message

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

void RelayedStream::attach(Descriptor local) {
  local_ = std::move(local);
  attached_ = true;
  ended_ = !local_;
}

void RelayedStream::take(const Fields& message) {
  const auto acknowledged = static_cast<uint64_t>(message.integer("got", 0, INT64_MAX));
  if (acknowledged > read_end()) throw FieldError("more of the control stream is confirmed than was sent");
  if (acknowledged > acknowledged_) {
    outgoing_.erase(0, acknowledged - acknowledged_);
    acknowledged_ = acknowledged;
    sent_ = std::max(sent_, acknowledged_);
  }
  const auto at = static_cast<uint64_t>(message.integer("at", 0, INT64_MAX));
  const auto data = decode_base64(message.string("data"));
  if (!data || data->size() > kMessage) throw FieldError("a part of the control stream is damaged");
  if (at > got_) throw FieldError("a part of the control stream is missing");
  const uint64_t known = got_ - at;  // bytes that an earlier connection has brought already
  if (known < data->size()) {
    if (incoming_.size() + data->size() > kWindow + kMessage) throw FieldError("too much of the control stream waits");
    const std::string_view fresh = std::string_view(*data).substr(known);
    got_ += fresh.size();
    if (!attached_ || (local_ && !deaf_)) incoming_ += fresh;
  }
  if (message.boolean_or("end", false) && at + data->size() == got_) other_ended_ = true;
  pump_local();
}

void RelayedStream::end_local() {
  local_ = Descriptor();
  incoming_.clear();
  ended_ = true;
}

void RelayedStream::write_local() {
  while (local_ && !incoming_.empty()) {
    const ssize_t done = ::send(local_.get(), incoming_.data(), incoming_.size(), MSG_NOSIGNAL);
    if (done < 0) {
      if (would_block()) return;
      deaf_ = true;  // what it has written before is still to be read
      incoming_.clear();
      return;
    }
    incoming_.erase(0, static_cast<size_t>(done));
  }
}

void RelayedStream::read_local() {
  char bytes[kMessage];
  while (local_ && outgoing_.size() < kWindow) {
    const ssize_t done = ::recv(local_.get(), bytes, std::min(sizeof bytes, kWindow - outgoing_.size()), 0);
    if (done > 0) {
      outgoing_.append(bytes, static_cast<size_t>(done));
    } else if (done == 0 || !would_block()) {
      end_local();
    } else {
      return;
    }
  }
}

void RelayedStream::pump_local() {
  write_local();
  read_local();
  if (local_ && other_ended_ && incoming_.empty()) end_local();
}

void RelayedStream::pump_wire(Wire& wire) {
  while (has_news()) {
    const size_t skipped = sent_ - acknowledged_;
    const std::string part = outgoing_.substr(skipped, kMessage);
    const bool last = ended_ && sent_ + part.size() == read_end();
    told_ = confirmed();
    wire.send({{"kind", "control"},
               {"generation", generation_},
               {"at", sent_},
               {"data", base64(part)},
               {"end", last},
               {"got", told_}});
    sent_ += part.size();
    end_sent_ = last;
  }
}

bool RelayedStream::has_news() const {
  return sent_ < read_end() || (ended_ && !end_sent_) || confirmed() >= told_ + kWindow / 4;
}

void RelayedStream::rewind() {
  sent_ = acknowledged_;
  end_sent_ = false;
  told_ = 0;
}

short RelayedStream::events() const {
  if (!local_) return 0;
  return static_cast<short>((outgoing_.size() < kWindow ? POLLIN : 0) | (incoming_.empty() ? 0 : POLLOUT));
}

}  // namespace trainyard
