// The other side of figures.h: answers questions from one pipe into another, each on a thread of
// its own.
#pragma once

#include "agent/figures/figures.h"

namespace trainyard {

/// What goes through the pipes: one object a line.
Json question_json(const Question& question);
Question parse_question(const Json& json);

/// Becomes that process (after fork, in a process of one thread). Ends when the questions' pipe is
/// closed, whatever still hangs.
[[noreturn]] void answer_questions(int questions, int answers);

}  // namespace trainyard
