// A folder that is there whole or not at all.
#pragma once
#include <string>

namespace trainyard {

/// `to`.partial, removed at the end of its scope unless it became `to`; one left over from before
/// is removed first.
class PartialFolder {
 public:
  /// Throws Error(Exit::usage) when `to` is empty, or exists and is not an empty folder;
  /// Error(Exit::data) when the folder cannot be made.
  explicit PartialFolder(std::string to);
  /// The one that another rank has made, which gives it its name or removes it. Throws
  /// Error(Exit::data) where it cannot be seen here.
  static PartialFolder of_another_rank(const std::string& to);
  ~PartialFolder();
  PartialFolder(PartialFolder&& other) noexcept;
  PartialFolder(const PartialFolder&) = delete;
  PartialFolder& operator=(const PartialFolder&) = delete;

  const std::string& path() const { return path_; }
  /// Makes path()/name and returns it with a slash at its end. Throws Error(Exit::data).
  std::string make(const std::string& name) const;
  /// Removes path()/name with all that is in it. Throws Error(Exit::data).
  void remove(const std::string& name) const;
  /// Gives the folder its name, where this rank has made it. Throws Error(Exit::data).
  void finish();

 private:
  PartialFolder(std::string to, bool is_own);

  std::string to_;
  std::string path_;
  bool is_own_ = true;
};

}  // namespace trainyard
