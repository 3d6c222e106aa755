#include "agent/figures/figures_process.h"

#include <unistd.h>

#include <memory>
#include <mutex>
#include <thread>

#include "agent/figures/disk.h"
#include "agent/figures/gpu.h"
#include "agent/system/spawn.h"

namespace trainyard {

namespace {

/// Shared with the threads, which may outlast everything but the process.
struct Desk {
  std::mutex writing;
  int answers = -1;
  GpuSampler gpus;  ///< one question about them at a time: the asker sees to it
};

Json answer_to(const Question& question, Desk& desk) {
  if (question.what == Question::What::gpus) return desk.gpus.sample();
  const DiskSpace space = disk_space(question.path);
  return {{"free", space.free}, {"total", space.total}, {"inodesFree", space.inodes_free}};
}

void answer(const Question& question, Desk& desk) {
  Json line{{"question", question_json(question)}};
  try {
    line["value"] = answer_to(question, desk);
  } catch (const std::exception& error) {
    line["error"] = error.what();
  }
  const std::scoped_lock lock(desk.writing);
  try {
    write_all(desk.answers, to_line(line) + "\n", "the answers");
  } catch (const std::exception&) {
    ::_exit(0);  // nobody listens any more
  }
}

}  // namespace

Json question_json(const Question& question) {
  return {{"what", question.what == Question::What::gpus ? "gpus" : "disk"}, {"path", question.path}};
}

Question parse_question(const Json& json) {
  const Fields fields(json, "question");
  const bool gpus = fields.string("what") == "gpus";
  return {gpus ? Question::What::gpus : Question::What::disk, fields.optional_string("path").value_or("")};
}

void answer_questions(int questions, int answers) {
  detach_from_everything("agent figures", questions, answers);
  const auto desk = std::make_shared<Desk>();
  desk->answers = answers;
  LineReader reader(questions);
  while (reader.fill()) {
    while (const auto line = reader.next()) {
      try {
        const Question question = parse_question(parse_json(line->text));
        std::thread([question, desk] { answer(question, *desk); }).detach();
      } catch (const std::exception&) {
        ::_exit(1);  // no thread could be started: the asker reads the end as its answer and tries again
      }
    }
  }
  ::_exit(0);
}

}  // namespace trainyard
