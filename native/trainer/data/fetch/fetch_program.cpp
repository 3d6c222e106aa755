#include "trainer/data/fetch/fetch_program.h"

#include <unistd.h>

#include <filesystem>

#include "common/error.h"
#include "trainer/data/fetch/child_lines.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

/// The node folder: bin/trainer, share/, and lib, which leads into the runtime where there is one.
fs::path node_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return self.parent_path().parent_path();
}

/// The runtime's own, else the system's.
std::string python() {
  std::error_code error;
  const fs::path lib = fs::canonical(node_folder() / "lib", error);
  const fs::path own = lib.parent_path() / "bin" / "python";
  return !error && ::access(own.c_str(), X_OK) == 0 ? own.string() : "python3";
}

}  // namespace

int run_fetch_program(const std::string& program, const std::string& order, const std::string& what,
                      const std::function<void(const std::string& line)>& on_line) {
  const std::string path = (node_folder() / "share" / "fetch" / program).string();
  if (::access(path.c_str(), R_OK) != 0) {
    throw Error(Exit::device,
                path + " is missing. Install Trainyard again, or move " + what + " yourself and name the file");
  }
  try {
    // -B: the folder may be another user's; -E, -s: nothing of the user's own Python gets in
    // between.
    return run_for_lines({python(), "-BEs", path}, order, on_line);
  } catch (const Error& error) {
    throw Error(Exit::device, std::string(error.what()) + ". This needs Python 3: install it, or move " + what +
                                  " yourself and name the file");
  }
}

}  // namespace trainyard
