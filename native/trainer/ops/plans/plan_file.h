// Which plans were chosen, kept on disk: one file for each kind of device and version of cuDNN.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "common/files.h"

namespace trainyard {

/// What cannot be read or written is said in a line, once, and never an error: plans are measured
/// again then.
class PlanFile {
 public:
  using Say = std::function<void(const std::string& line)>;

  /// folder: "" keeps nothing on disk. It is made when something is written.
  PlanFile(const std::string& folder, std::string device, std::string library, Say say);

  /// Held by the one process that measures and writes; others wait for it.
  class Turn {
   public:
    explicit Turn(Descriptor file) : file_(std::move(file)) {}

   private:
    Descriptor file_;  ///< its lock goes with it
  };
  Turn take_turn();

  /// Reads what others have written since.
  void read();
  /// "" where nothing was chosen.
  std::string find(const std::string& work) const;
  /// Keeps a choice, in memory and on disk. In a turn, after read().
  void add(const std::string& work, const std::string& choice, double milliseconds);

  const std::string& path() const { return path_; }

 private:
  struct Choice {
    std::string name;
    double milliseconds = 0;
  };
  using Choices = std::map<std::string, Choice>;

  std::string head() const;
  bool parse(const std::string& text, Choices& choices) const;
  std::string text() const;
  void complain(const std::string& what);

  std::string folder_, path_;
  std::string device_, library_;
  Say say_;
  bool complained_ = false;
  Choices choices_;
};

}  // namespace trainyard
