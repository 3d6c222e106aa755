// The verbs of the command line. Each adds its subcommand; the returned action runs after parsing
// when it was the one chosen.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "common/error.h"

namespace trainyard {

using Action = std::function<Exit()>;

struct Verb {
  CLI::App* command = nullptr;
  Action action;
};

/// "resnet20 (32 px), …": the models and the image size each is meant for.
std::string models_text();
/// One of these.
CLI::Validator known_model();

Verb add_train(CLI::App& app);
Verb add_eval(CLI::App& app);
Verb add_predict(CLI::App& app);
Verb add_checkpoints(CLI::App& app);
Verb add_prep(CLI::App& app);
Verb add_devices(CLI::App& app);
Verb add_bench(CLI::App& app);
Verb add_selftest(CLI::App& app);

}  // namespace trainyard
