#include "agent/messages/frames.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace trainyard {

bool LineReader::fill() {
  std::array<char, 65536> chunk;
  for (int round = 0; round < 4; ++round) {
    const ssize_t got = ::read(fd_, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (got == 0) return false;
    buffer_.append(chunk.data(), static_cast<size_t>(got));
    if (static_cast<size_t>(got) < chunk.size()) return true;
  }
  return true;
}

std::optional<LineReader::Line> LineReader::next() {
  const size_t newline = buffer_.find('\n', searched_);
  if (newline == std::string::npos) {
    searched_ = buffer_.size();
    if (discarding_ || buffer_.size() - begin_ > limit_) {
      discarding_ = true;
      begin_ = buffer_.size();
    }
    drop_handed_out();
    return std::nullopt;
  }
  Line line;
  line.too_long = discarding_ || newline - begin_ > limit_;
  if (!line.too_long) line.text = buffer_.substr(begin_, newline - begin_);
  discarding_ = false;
  begin_ = searched_ = newline + 1;
  return line;
}

std::optional<std::string> LineReader::take(size_t count) {
  if (pending() < count) {
    drop_handed_out();
    return std::nullopt;
  }
  std::string bytes = buffer_.substr(begin_, count);
  begin_ = searched_ = begin_ + count;
  return bytes;
}

/// Keeps only what has not been handed out.
void LineReader::drop_handed_out() {
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
}

void FrameWriter::send(const std::string& line) {
  buffer_ += line;
  buffer_.push_back('\n');
}

bool FrameWriter::flush() {
  bool open = true;
  while (waiting() > 0) {
    const ssize_t put = ::write(fd_, buffer_.data() + written_, waiting());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      open = errno == EAGAIN || errno == EWOULDBLOCK;
      break;
    }
    written_ += static_cast<size_t>(put);
  }
  let_go_of_written();
  return open;
}

void FrameWriter::let_go_of_written() {
  if (waiting() == 0) {
    buffer_.clear();
    written_ = 0;
    if (buffer_.capacity() > (1 << 20)) buffer_.shrink_to_fit();
  } else if (written_ >= waiting()) {  // each byte is moved once at most for each that was written
    buffer_.erase(0, written_);
    written_ = 0;
  }
}

}  // namespace trainyard
