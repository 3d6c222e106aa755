// What workers and parameter servers say to each other, over the world's mailbox.
#pragma once
#include <array>
#include <cstddef>

#include "trainer/strategies/report.h"

namespace trainyard::server_messages {

enum Tag : int {
  kSetup = 1,   ///< leader to server: how many pieces; then offset, size and adapt of each
  kVariables,   ///< leader to server and back: a packed arena, weights first, then the optimizer's
  kRequest,     ///< worker to server: Request
  kGradient,    ///< worker to server: a packed arena
  kNorm,        ///< first server to worker: the length of the whole gradient, where it is to be cut
  kReply,       ///< server to worker, after a push: Reply
  kWeights,     ///< server to worker: a packed arena
  kFigures,     ///< server to leader: Figures
  kRankFigures  ///< first server to leader, after Figures: RankNumbers of the workers as they pushed them, [world]
};

/// What a server is asked for. Of `step` only the leader tells, and all workers' gradients follow,
/// in the order of their ranks; a `push` is one worker's own.
enum class Ask : int { step, push, collect, report, end };

/// Numbers travel as doubles, all of them together.
struct Request {
  double ask = 0;
  double number = 0;  ///< the worker's step
  double lr = 0;
  double clip_norm = 0;  ///< of a step
  // Of a push:
  double version = 0;  ///< of the weights that the gradient was made with
  double images = 0;
  double loss = 0;
  double top1 = 0;
  double stop = 0;
  double finish = 0;
  RankFigures figures{};
};
using RequestNumbers = std::array<double, 20>;

struct Reply {
  double version = 0;
  double last_step = 0;  ///< after which all workers are to end; 0: none
  double finish = 0;     ///< above 0: because nothing more is to be gained
};
using ReplyNumbers = std::array<double, 3>;

struct Figures {
  ServerFigures server{};
  RankFigures memory{};
  PushedFigures pushed{};  ///< the first server only
};
using FigureNumbers = std::array<double, 20>;

static_assert(sizeof(Request) == sizeof(RequestNumbers) && sizeof(Reply) == sizeof(ReplyNumbers));
static_assert(sizeof(Figures) == sizeof(FigureNumbers));

}  // namespace trainyard::server_messages
