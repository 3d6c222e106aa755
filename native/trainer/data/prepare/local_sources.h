// The sources of `trainer prep`, all on this machine.
#pragma once
#include <map>
#include <string>

#include "trainer/data/prepare/prep.h"

namespace trainyard {

class LocalSources {
 public:
  /// Downloads what has an address and compares the sums that are given. Throws as download and
  /// check_sum do.
  explicit LocalSources(const PrepOptions& options);
  /// The options with paths instead of addresses.
  const PrepOptions& options() const { return options_; }
  /// Removes what was downloaded, unless the user named a folder for it.
  void done_with() const;

 private:
  /// role: a folder for it where another source has the same name.
  std::string local(const std::string& source, const std::string& sha256, const std::string& role);

  PrepOptions options_;
  std::string folder_;
  bool downloaded_ = false;
  std::map<std::string, std::string> names_;  ///< of files in folder_: the address of each
};

}  // namespace trainyard
