// The trainer's command line: parsing, errors in one line, exit codes (docs/contracts.md).
#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "common/cpu_features.h"
#include "common/outcome.h"
#include "common/process.h"
#include "trainer/cli/flags/numbers.h"
#include "trainer/cli/flags/suggest.h"
#include "trainer/cli/verbs.h"
#include "trainer/comm/communicator.h"

namespace trainyard {
namespace {

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

/// "host gpu1 rank 3: " where there are several ranks.
std::string who() {
  const char* rank = std::getenv("PMI_RANK");
  if (rank == nullptr || processes_of_mpiexec() == 1) return "";
  return "host " + host_name() + " rank " + rank + ": ";
}

int fail(Exit code, const std::string& message, Retry retry) {
  std::fflush(stdout);
  tell_outcome(code, retry);
  std::fprintf(stderr, "trainer: error: %s%s\n", who().c_str(), one_line(message).c_str());
  return static_cast<int>(code);
}

int fail(Exit code, const std::string& message) { return fail(code, message, default_retry(code)); }

std::vector<std::string> flags_of(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  return flags;
}

std::vector<std::string> verbs_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  return names;
}

/// CLI11 says which word it did not expect; a person also wants to know what was probably meant.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  std::string help = "See trainer ";
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    help += command->get_name() + " ";
  }
  help += "--help";
  for (const std::string& word : command->remaining(true)) {
    const std::string flag = word.substr(0, word.find('='));
    const bool is_verb = !verbs_of(*command).empty();
    const std::string near = nearest(flag, is_verb ? verbs_of(*command) : flags_of(*command));
    return "unknown " + std::string(is_verb ? "verb " : "argument ") + flag + ". " +
           (near.empty() ? "" : "Did you mean " + near + "? ") + help;
  }
  if (words.empty()) return "no verb given. See trainer --help";
  return std::string(error.what()) + ". " + help;
}

/// The error for a flag that stands twice on the command line. The last one never wins in silence.
std::optional<std::string> given_twice(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() < 2) continue;
    std::string values;
    for (const std::string& value : option->results()) values += (values.empty() ? "" : ", ") + value;
    return option->get_name() + " is given " + std::to_string(option->count()) + " times (" + values +
           "). Give it once";
  }
  for (const CLI::App* verb : app.get_subcommands()) {
    if (auto twice = given_twice(*verb)) return twice;
  }
  return std::nullopt;
}

/// All but this file is compiled for AVX2, which every GPU node of the last ten years has.
void require_instructions() {
  if (cpu_features().avx2) return;
  throw Error(
      Exit::device,
      "this processor has no AVX2. Use a machine with an Intel processor from 2013 or an AMD one from 2015, or newer");
}

int run(int argc, char** argv) {
  CLI::App app("Trainyard's data-parallel trainer. Start several with mpiexec to train on several cores or machines.",
               "trainer");
  app.require_subcommand(1);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_version_flag("--version", "trainer 0.1.0");
  const std::vector<Verb> verbs = {add_train(app), add_eval(app),    add_predict(app), add_checkpoints(app),
                                   add_prep(app),  add_devices(app), add_bench(app),   add_selftest(app)};
  require_ranges(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fail(Exit::usage, usage_message(app, error, std::vector<std::string>(argv + 1, argv + argc)));
  }
  if (const auto twice = given_twice(app)) return fail(Exit::usage, *twice);
  for (const Verb& verb : verbs) {
    if (!verb.command->parsed()) continue;
    if (verb.command->get_name() != "devices") require_instructions();
    return static_cast<int>(verb.action());
  }
  return fail(Exit::internal, "no verb ran. Please report this");
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  ::signal(SIGXFSZ, SIG_IGN);  // then a write over ulimit -f fails like any other, with a message
  try {
    return trainyard::run(argc, argv);
  } catch (const trainyard::Error& error) {
    return trainyard::fail(error.code(), error.what(), error.retry());
  } catch (const std::bad_alloc&) {
    return trainyard::fail(trainyard::Exit::device, "out of memory. Lower --batch-size or --image-size");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) {
      return trainyard::fail(trainyard::Exit::internal, std::string(error.what()) + ". Please report this");
    }
    return trainyard::fail(
        trainyard::Exit::device,
        "the system allows no more threads. Lower --threads or --loader-threads, or raise ulimit -u");
  } catch (const std::exception& error) {
    return trainyard::fail(trainyard::Exit::internal, std::string(error.what()) + ". Please report this");
  }
}
