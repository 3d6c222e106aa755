// Where a run keeps its things (docs/contracts/files.md), and how runs are named and found.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

class RunFolder {
 public:
  /// `dir` is made free of symbolic links, since processes are found by exactly this text in their
  /// environment.
  explicit RunFolder(const std::string& dir);

  const std::string& dir() const { return dir_; }
  std::string file(const std::string& name) const { return dir_ + "/" + name; }
  std::string run() const { return file("run.json"); }
  std::string state() const { return file("state.json"); }
  std::string about() const { return file("about.json"); }
  std::string stop() const { return file("stop.json"); }
  std::string lock() const { return file("supervisor.lock"); }
  std::string events() const { return file("events.jsonl"); }
  std::string metrics() const { return file("metrics.jsonl"); }
  std::string tensorboard() const { return file("tensorboard.json"); }
  std::string code() const { return file("code"); }            ///< the user's code, where the command starts
  std::string code_list() const { return file("code.json"); }  ///< its files
  std::string log(const std::string& name) const { return file("logs/" + name + ".log"); }
  std::string log_times(const std::string& name) const { return file("logs/" + name + ".times"); }
  std::string heartbeats() const { return file("heartbeats"); }
  std::string heartbeat(int rank) const;
  std::string evaluator_heartbeat() const { return heartbeats() + "/eval"; }
  std::string exit_record(int generation, int rank) const;
  std::string start_record(int generation, int rank) const;  ///< ours: pids of a rank, while it lives
  std::string command(int generation) const;                 ///< ours: the command line of a generation's ranks
  std::string all_ended(int generation) const;               ///< ours: there once every rank's program has ended

  std::string joining() const { return file("join.json"); }  ///< where the nodes of the run join, and the key
  /// What only one node's `agent join` uses, apart from the others' where they share the folder.
  std::string node(const std::string& host, const std::string& name) const {
    return file("nodes/" + host + "/" + name);
  }

  /// Makes the folders that other programs write into.
  void make_folders() const;
  /// What an earlier run in this folder left of these ranks of a generation of the same number,
  /// which would read as theirs. Throws Error where it cannot be removed.
  void remove_records(int generation, int first, int count) const;

 private:
  std::string dir_;
};

/// YYYYMMDD-HHMMSS-<label>-<4 hex> in UTC. Of the label only a-z, 0-9 and hyphens are kept, 32 at
/// most.
std::string make_run_id(const std::string& label);

/// Whether a client may name a run so: 1 to 100 of A-Z a-z 0-9 . _ - and not beginning with a dot.
bool is_run_id(const std::string& id);

/// The folder that a client names; throws RpcError (not found) where there is no run.json.
RunFolder existing_run_folder(const std::string& dir);

/// The folders below <workdir>/runs that hold a run.json, newest (by name) first.
std::vector<std::string> list_run_folders(const std::string& workdir);

/// Everything in <workdir>/runs, which `runs` is, newest (by name) first: also what a node has of
/// runs that another one supervises.
std::vector<std::string> folders_in(const std::string& runs);

}  // namespace trainyard
