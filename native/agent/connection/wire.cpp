#include "agent/connection/wire.h"

#include <sys/ioctl.h>
#include <sys/socket.h>

#include <charconv>

#include "agent/messages/hmac.h"
#include "agent/messages/version.h"
#include "agent/system/clock.h"

namespace trainyard {

namespace {

constexpr size_t kLongestLine = 8 << 20;   // as a request's: a command line may name thousands of files
constexpr size_t kLongestGreeting = 1024;  // of a side that has proved nothing yet
constexpr size_t kMacDigits = 64;
constexpr size_t kChallengeBytes = 32;

/// Says which run listens, and nothing about its key.
std::string public_name(const std::string& key) { return hmac_sha256_hex(key, "name of the run"); }

/// What the MAC of a message is of: its number in this direction, and all that it says.
std::string signed_text(uint64_t number, const std::string& body, std::string_view bytes) {
  std::string text = std::to_string(number);
  if (!bytes.empty()) text += "+" + std::to_string(bytes.size());
  text.reserve(text.size() + 1 + body.size() + bytes.size());
  return text.append(":").append(body).append(bytes);
}

}  // namespace

Wire::Wire(Descriptor socket, Side side, std::string key, std::string host)
    : socket_(std::move(socket)),
      side_(side),
      key_(std::move(key)),
      host_(std::move(host)),
      reader_(socket_.get(), kLongestLine),
      writer_(socket_.get()),
      phase_(side == Side::head ? Phase::proof : Phase::challenge),
      opened_(monotonic_seconds()),
      heard_(opened_) {
  if (side_ != Side::head) return;
  head_challenge_ = random_hex(kChallengeBytes);
  writer_.send(to_line(
      {{"trainyard", "join"}, {"version", kAgentVersion}, {"run", public_name(key_)}, {"challenge", head_challenge_}}));
}

bool Wire::close(const std::string& why) {
  if (phase_ != Phase::closed) why_ = why;
  phase_ = Phase::closed;
  return false;
}

void Wire::close_stranger(const std::string& why) {
  is_stranger_ = true;
  close(why);
}

std::string Wire::proof(const char* of) const {
  return hmac_sha256_hex(key_, std::string(of) + "\n" + head_challenge_ + "\n" + node_challenge_ + "\n" + host_);
}

void Wire::open() {
  const std::string from_head = proof("lines of the head"), from_node = proof("lines of the node");
  sending_key_ = side_ == Side::head ? from_head : from_node;
  receiving_key_ = side_ == Side::head ? from_node : from_head;
  phase_ = Phase::open;
  heard_ = monotonic_seconds();
}

void Wire::take_challenge(const Json& line) {
  const Fields fields(line, "greeting");
  if (fields.string("version") != kAgentVersion) {
    close_stranger("the head runs version " + fields.string("version") + ", this node " + kAgentVersion);
    return;
  }
  if (!same_secret(fields.string("run"), public_name(key_))) {
    close_stranger("another run listens there");
    return;
  }
  head_challenge_ = fields.string("challenge");
  if (!is_hex(head_challenge_, 2 * kChallengeBytes)) throw FieldError("no challenge");
  node_challenge_ = random_hex(kChallengeBytes);
  writer_.send(to_line({{"host", host_}, {"challenge", node_challenge_}, {"proof", proof("the node")}}));
  phase_ = Phase::proof;
}

void Wire::take_hello(const Json& line) {
  const Fields fields(line, "greeting");
  host_ = fields.string("host");
  node_challenge_ = fields.string("challenge");
  if (!is_hex(node_challenge_, 2 * kChallengeBytes)) throw FieldError("no challenge");
  if (!same_secret(fields.string("proof"), proof("the node"))) {
    close("it does not hold this run's key");
    return;
  }
  writer_.send(to_line({{"proof", proof("the head")}}));
  open();
}

void Wire::take_proof(const Json& line) {
  if (!same_secret(Fields(line, "greeting").string("proof"), proof("the head"))) {
    close("whoever listens there does not hold this run's key");
    return;
  }
  open();
}

void Wire::shake_hands(const std::string& line) {
  try {
    if (line.size() > kLongestGreeting) throw FieldError("too long");
    const Json json = parse_json(line);
    if (phase_ == Phase::challenge) {
      take_challenge(json);
    } else {
      side_ == Side::head ? take_hello(json) : take_proof(json);
    }
  } catch (const FieldError&) {
    is_stranger_ = side_ == Side::node && phase_ == Phase::challenge;
    close("its greeting is none of ours");
  }
}

bool Wire::pump() {
  if (phase_ == Phase::closed) return false;
  const bool connected = reader_.fill();
  while (phase_ == Phase::challenge || phase_ == Phase::proof) {
    const auto line = reader_.next();
    if (!line) break;
    line->too_long ? void(close("its greeting is too long")) : shake_hands(line->text);
  }
  if ((phase_ == Phase::challenge || phase_ == Phase::proof) && reader_.pending() > kLongestGreeting) {
    close("its greeting is too long");
  }
  if (phase_ == Phase::closed) {
    writer_.flush();
    return false;
  }
  const bool flushed = writer_.flush();
  if (!flushed) reader_.fill();  // what came meanwhile, and then the end
  if (!flushed || !connected) {
    // What came before the end still counts: next() hands it out although pump says that this was
    // the last.
    why_ = "the connection was closed";
    return false;
  }
  int unread = 0;
  more_ = ::ioctl(socket_.get(), FIONREAD, &unread) == 0 && unread > 0;
  return true;
}

/// `MAC JSON` or `MAC+N JSON`.
bool Wire::read_header(const LineReader::Line& line) {
  const std::string_view text(line.text);
  if (line.too_long || text.size() < kMacDigits + 2) return false;
  const size_t space = text.find(' ', kMacDigits);
  if (space == std::string_view::npos) return false;
  Header header{std::string(text.substr(0, kMacDigits)), std::string(text.substr(space + 1))};
  if (space > kMacDigits) {
    const std::string_view digits = text.substr(kMacDigits + 1, space - kMacDigits - 1);
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), header.count);
    const bool is_count = failed == std::errc() && end == digits.data() + digits.size();
    if (text[kMacDigits] != '+' || !is_count || header.count == 0 || header.count > kMostBytes) return false;
  }
  header_ = std::move(header);
  return true;
}

std::optional<Json> Wire::next() {
  if (phase_ != Phase::open) return std::nullopt;
  if (!header_) {
    const auto line = reader_.next();
    if (!line) return std::nullopt;
    if (!read_header(*line)) {
      close("a line is none of ours");
      return std::nullopt;
    }
  }
  auto bytes = reader_.take(header_->count);
  if (!bytes) return std::nullopt;
  const Header header = std::move(*header_);
  header_.reset();
  if (!same_secret(header.mac, hmac_sha256_hex(receiving_key_, signed_text(received_, header.body, *bytes)))) {
    close("a line was not written by the other side");
    return std::nullopt;
  }
  ++received_;
  heard_ = monotonic_seconds();
  bytes_ = std::move(*bytes);
  try {
    return parse_json(header.body);
  } catch (const FieldError&) {
    close("a line is no JSON");
    return std::nullopt;
  }
}

void Wire::end_sending() { ::shutdown(socket_.get(), SHUT_WR); }

void Wire::send(const Json& message, std::string_view bytes) {
  const std::string body = to_line(message);
  const std::string mac = hmac_sha256_hex(sending_key_, signed_text(sent_++, body, bytes));
  writer_.send(mac + (bytes.empty() ? "" : "+" + std::to_string(bytes.size())) + " " + body);
  writer_.send_bytes(bytes);
}

}  // namespace trainyard
