// Figures that may never come: a GPU driver or a network file system can leave a call hanging for
// ever, even one that SIGKILL does not end. So they are asked for by a process of its own, which
// holds no lock and no pipe of the run: it may hang or crash, and whoever asks goes on, beats, and
// ends when it wants to.
#pragma once
#include <compare>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/messages/frames.h"
#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

struct Question {
  enum class What { gpus, disk };
  What what = What::gpus;
  std::string path;  ///< of `disk`: where the file system is; empty otherwise

  auto operator<=>(const Question&) const = default;
};

/// What is known of a question. Times are monotonic seconds, 0 for never.
struct Figure {
  std::optional<Json> value;  ///< the newest answer: the `gpus` list, or {free, total, inodesFree}
  std::string error;          ///< why the newest question failed; empty when it was answered
  double answered = 0;        ///< when the newest answer or failure came
  double open_since = 0;      ///< when the question that waits for its answer was asked
  double missing_since = 0;   ///< since the epoch: when the first question was asked that has no good answer yet
};

class Figures {
 public:
  Figures();
  /// Tells the process to end and waits for nothing: one that hangs stays until the system lets it
  /// go.
  ~Figures();
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;

  /// Asks, unless the same question waits for its answer already. Never waits, never throws.
  void ask(const Question& question);
  /// Takes the answers that are there. Never waits.
  void take();
  const Figure& of(const Question& question) { return figures_[question]; }

  /// How many questions wait for an answer.
  size_t open() const;
  /// The process, or -1 while there is none.
  int pid() const { return pid_; }

 private:
  void start();
  void fail_all(const std::string& reason);
  void settle(const Question& question, const Json& answer);

  std::map<Question, Figure> figures_;
  Descriptor questions_, answers_;
  std::unique_ptr<LineReader> reader_;
  int pid_ = -1;
  double next_start_ = 0;  ///< monotonic seconds
};

/// Which figure has not come and since when: {what, path (of a disk), since, reason}; null when
/// `figure` is not missing. A question counts as unanswered after `patience` seconds.
Json missing_figure(const Question& question, const Figure& figure, double patience);

}  // namespace trainyard
