#include "trainer/cli/progress_line.h"

#include <algorithm>
#include <cstdio>

namespace trainyard {

namespace {

constexpr int kBar = 20;
constexpr double kTerminalSeconds = 0.2;
constexpr double kPlainSeconds = 10;

std::string amount(ProgressLine::Unit unit, int64_t count) {
  char text[48];
  if (unit == ProgressLine::Unit::bytes) {
    std::snprintf(text, sizeof text, "%.1f", static_cast<double>(count) / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%lld", static_cast<long long>(count));
  }
  return text;
}

std::string seconds_text(double seconds) {
  const auto whole = static_cast<int64_t>(seconds);
  char text[48];
  if (whole < 100) {
    std::snprintf(text, sizeof text, "%lld s", static_cast<long long>(whole));
  } else if (whole < 6000) {
    std::snprintf(text, sizeof text, "%lld min", static_cast<long long>(whole / 60));
  } else {
    std::snprintf(text, sizeof text, "%.1f h", static_cast<double>(whole) / 3600);
  }
  return text;
}

}  // namespace

void ProgressLine::close() {
  if (open_) std::fputc('\n', stderr);
  open_ = false;
}

void ProgressLine::show(const std::string& what, Unit unit, int64_t done, int64_t total) {
  const auto now = Clock::now();
  if (what != what_) {
    close();
    what_ = what;
    finished_ = false;
    first_ = done;
    begin_ = shown_ = now;
  }
  const bool end = total >= 0 && done >= total;
  const double since = std::chrono::duration<double>(now - shown_).count();
  if (finished_ || (!end && since < (terminal_ ? kTerminalSeconds : kPlainSeconds))) return;
  shown_ = now;
  finished_ = end;
  const double seconds = std::chrono::duration<double>(now - begin_).count();
  const double rate = seconds > 0.1 ? static_cast<double>(done - first_) / seconds : 0;
  const char* name = unit == Unit::bytes ? "MB" : "images";
  std::string text = what + ": " + amount(unit, done);
  if (total >= 0) text += " of " + amount(unit, total);
  text += std::string(" ") + name;
  if (total > 0) text += ", " + std::to_string(100 * done / total) + "%";
  if (rate > 0) text += ", " + amount(unit, static_cast<int64_t>(rate)) + " " + name + "/s";
  if (rate > 0 && total > done) text += ", " + seconds_text(static_cast<double>(total - done) / rate) + " left";
  if (!terminal_) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return;
  }
  if (total > 0) {
    const auto filled = static_cast<size_t>(std::min<int64_t>(kBar, kBar * done / total));
    text = "[" + std::string(filled, '#') + std::string(kBar - filled, ' ') + "] " + text;
  }
  std::fprintf(stderr, "\r\x1b[K%s", text.c_str());
  std::fflush(stderr);
  open_ = true;
  if (end) close();
}

}  // namespace trainyard
