#include "agent/figures/figures.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "agent/figures/figures_process.h"
#include "agent/system/clock.h"
#include "common/error.h"
#include "common/process.h"

namespace trainyard {

namespace {

constexpr double kRestSeconds = 10;  // before a process that ended is started again

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw file_error("make", "a pipe");
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out, in;
};

void make_nonblocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

}  // namespace

Figures::Figures() = default;

Figures::~Figures() {
  questions_ = Descriptor();  // the end of its input, unless it hangs
  if (pid_ > 0) ::waitpid(pid_, nullptr, WNOHANG);
}

void Figures::start() {
  next_start_ = monotonic_seconds() + kRestSeconds;
  Pipe questions, answers;
  const int pid = ::fork();
  if (pid < 0) throw file_error("start", "the process that asks for figures");
  if (pid == 0) answer_questions(questions.out.get(), answers.in.get());
  pid_ = pid;
  questions_ = std::move(questions.in);
  answers_ = std::move(answers.out);
  make_nonblocking(questions_.get());
  make_nonblocking(answers_.get());
  reader_ = std::make_unique<LineReader>(answers_.get());
}

void Figures::ask(const Question& question) {
  Figure& figure = figures_[question];
  if (figure.open_since > 0) return;
  if (figure.missing_since == 0) figure.missing_since = now_seconds();
  try {
    if (pid_ < 0 && monotonic_seconds() < next_start_) return;
    if (pid_ < 0) start();
    figure.open_since = monotonic_seconds();
    write_all(questions_.get(), to_line(question_json(question)) + "\n", "the process that asks for figures");
  } catch (const Error& error) {
    figure.open_since = 0;
    figure.error = error.what();
    figure.answered = monotonic_seconds();
  }
}

void Figures::take() {
  if (pid_ < 0) return;
  const bool open = reader_->fill();
  while (const auto line = reader_->next()) {
    const Json answer = parse_json(line->text);
    settle(parse_question(answer["question"]), answer);
  }
  if (open) return;
  ::waitpid(pid_, nullptr, WNOHANG);  // a supervisor may have seen its end already
  pid_ = -1;
  fail_all("the process that asks for figures ended: a defect of the GPU driver, or a lack of memory");
}

void Figures::fail_all(const std::string& reason) {
  for (auto& [question, figure] : figures_) {
    if (figure.open_since > 0) settle(question, {{"error", reason}});
  }
}

void Figures::settle(const Question& question, const Json& answer) {
  Figure& figure = figures_[question];
  figure.open_since = 0;
  figure.answered = monotonic_seconds();
  figure.error = answer.value("error", "");
  if (!figure.error.empty()) return;
  figure.value = answer["value"];
  figure.missing_since = 0;
}

size_t Figures::open() const {
  return static_cast<size_t>(
      std::count_if(figures_.begin(), figures_.end(), [](const auto& one) { return one.second.open_since > 0; }));
}

Json missing_figure(const Question& question, const Figure& figure, double patience) {
  const bool waits = figure.open_since > 0 && monotonic_seconds() - figure.open_since >= patience;
  if (!waits && figure.error.empty()) return nullptr;
  Json missing{{"what", question.what == Question::What::gpus ? "gpus" : "disk"}};
  if (!question.path.empty()) missing["path"] = question.path;
  missing["since"] = figure.missing_since;
  missing["reason"] = waits ? "no answer" : figure.error;
  return missing;
}

}  // namespace trainyard
