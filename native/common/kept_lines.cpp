#include "common/kept_lines.h"

#include <algorithm>
#include <iterator>

#include "common/error.h"
#include "common/files.h"

namespace trainyard {

void KeptLines::append(std::string line, double time, bool lasting) {
  bytes_ += line.size() + sizeof(Line);
  lines_.push_back({std::move(line), time, lasting});
  while (bytes_ > limit_ && lines_.size() > 1) give_up_oldest();
}

void KeptLines::give_up_oldest() {
  const auto newest = std::prev(lines_.end());
  auto oldest = std::find_if(lines_.begin(), newest, [](const Line& line) { return !line.lasting; });
  if (oldest == newest) oldest = lines_.begin();
  bytes_ -= oldest->text.size() + sizeof(Line);
  if (lost_.lines == 0) lost_.from = oldest->time;
  lost_.from = std::min(lost_.from, oldest->time);
  lost_.to = std::max(lost_.to, oldest->time);
  ++lost_.lines;
  lines_.erase(oldest);
}

bool KeptLines::flush() {
  if (lines_.empty()) return true;
  try {
    LineFile file(path_);
    if (lost_.lines > 0) file.append(gap_(lost_));
    lost_ = {};
    while (!lines_.empty()) {
      file.append(lines_.front().text);
      bytes_ -= lines_.front().text.size() + sizeof(Line);
      lines_.pop_front();
    }
  } catch (const Error& error) {
    error_ = error.what();
    return false;
  }
  return true;
}

}  // namespace trainyard
