// The files of a run folder's `code` (docs/contracts/code.md), as `code.json` names them.
#pragma once
#include <string>
#include <unordered_set>

namespace trainyard {

class CodeFiles {
 public:
  /// `list`: the path of code.json. Where it is missing or damaged no file is known.
  explicit CodeFiles(const std::string& list);

  /// Whether this file or link, named below `code`, came with the code, or is one that Python makes
  /// of it.
  bool contains(const std::string& path) const;

 private:
  std::unordered_set<std::string> paths_;
};

}  // namespace trainyard
