#include "agent/notify/notifier.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "agent/system/clock.h"
#include "agent/system/kill.h"
#include "agent/system/spawn.h"
#include "common/error.h"
#include "common/files.h"

namespace trainyard {

namespace {

constexpr double kMostSeconds = 65;  // the program ends itself after 60
constexpr int kLookMs = 100;

/// Beside the agent's folder, as all programs of a node are.
std::string program_of(const RunSpec& spec) {
  const std::filesystem::path bin = std::filesystem::path(spec.agent).parent_path();
  return (bin.parent_path() / "share" / "notify.py").string();
}

}  // namespace

Notifier::Notifier(const RunFolder& folder, const RunSpec& spec)
    : folder_(folder),
      kinds_(spec.notify_of.begin(), spec.notify_of.end()),
      python_(spec.python.empty() ? "python3" : spec.python),
      program_(program_of(spec)) {}

void Notifier::tell(const std::string& kind, Json facts, Journal& journal) {
  if (!kinds_.contains(kind)) return;
  facts["kind"] = kind;
  facts["generation"] = journal.generation();
  facts["time"] = now_seconds();
  facts["host"] = host_name();
  Command command;
  // -B: the folder may be another user's; -E, -s: nothing of the user's own Python gets in between.
  command.argv = {python_, "-BEs", program_, folder_.dir()};
  command.env = clean_environment();
  command.env["TRAINYARD_NOTICE"] = to_line(facts);  // a command line would show it to other users
  command.cwd = folder_.dir();
  command.log = folder_.log("notify");
  try {
    if (::access(program_.c_str(), R_OK) != 0) throw file_error("read", program_);
    std::erase_if(sending_, [](const ProcessId& one) { return !is_alive(one); });
    sending_.push_back(start_detached(command));
  } catch (const Error& error) {
    journal.event("notify_failed", {{"what", "program"}, {"of", kind}, {"reason", error.what()}});
  }
}

void Notifier::heard(const std::string& event, const Json& fields, const std::string& phase, Journal& journal) {
  if (event == "stalled") tell("stalled", {{"status", phase}, {"seconds", fields["seconds"]}}, journal);
  if (event != "budget_low" && event != "budget_spent") return;
  Json facts = fields;
  facts["status"] = phase;
  facts["spent"] = event == "budget_spent";
  tell("budget", facts, journal);
}

std::set<int> Notifier::spared() const {
  std::set<int> pids;
  for (const ProcessId& one : sending_) {
    if (!is_alive(one)) continue;
    pids.insert(one.pid);
    for (const NamedProcess& child : find_descendants(one.pid, {})) pids.insert(child.process.pid);
  }
  return pids;
}

void Notifier::finish() const {
  if (std::getenv("SLURM_JOB_ID") == nullptr) return;
  const double deadline = monotonic_seconds() + kMostSeconds;
  while (std::ranges::any_of(sending_, is_alive) && monotonic_seconds() < deadline) sleep_ms(kLookMs);
}

}  // namespace trainyard
