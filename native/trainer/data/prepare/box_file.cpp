#include "trainer/data/prepare/box_file.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/error.h"
#include "common/files.h"
#include "trainer/data/archive/tar_reader.h"
#include "trainer/data/files_below.h"
#include "trainer/data/prepare/box_xml.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;

constexpr uint64_t kLongestFile = uint64_t{1} << 20;  // an annotation, in bytes
constexpr size_t kLongestLine = 4096;
constexpr int64_t kMostBadFiles = 100;
constexpr int64_t kSayEvery = 512;  // entries
constexpr const char* kKinds =
    "Give ILSVRC2012_bbox_train_v2.tar.gz, another tar or a folder of such XML files, or a list of "
    "NAME,XMIN,YMIN,XMAX,YMAX lines with numbers from 0 to 1";

[[noreturn]] void refuse(const std::string& what, const std::string& to_do = kKinds) {
  throw Error(Exit::data, what + ". " + to_do);
}

bool is_annotation_name(std::string_view name) {
  constexpr std::string_view ending = ".xml";
  if (name.size() <= ending.size()) return false;
  const std::string_view last = name.substr(name.size() - ending.size());
  return std::equal(last.begin(), last.end(), ending.begin(),
                    [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; });
}

/// What annotations come to, of a tar or a folder.
class Annotations {
 public:
  explicit Annotations(const BoxReading& options) : options_(options) {}

  /// read: gives the bytes; may throw BadAnnotation.
  template <typename Read>
  void take(const std::string& path, Read&& read) {
    try {
      const Annotation one = read_annotation(read());
      found.without_area += one.without_area;
      if (!one.boxes.empty()) found.table.add(image_stem(path), one.boxes);
    } catch (const BadAnnotation& error) {
      leave_out(path, error.what());
    }
  }

  FoundBoxes found;

 private:
  void leave_out(const std::string& path, const std::string& why) {
    if (options_.on_bad_file) options_.on_bad_file(path, why);
    if (++found.no_annotation <= kMostBadFiles) return;
    refuse("more than " + std::to_string(kMostBadFiles) + " files are no annotations, the last one " + path + " (" +
           why + ")");
  }

  const BoxReading& options_;
};

[[noreturn]] void refuse_size() { throw BadAnnotation("it has more than 1 MiB"); }

FoundBoxes read_archive(const std::string& path, const BoxReading& options) {
  const std::unique_ptr<ArchiveBytes> bytes = open_archive_bytes(path, options.progress);
  Annotations annotations(options);
  TarReader reader(*bytes, path, 0, bytes->size());
  int64_t entries = 0;
  while (const auto entry = reader.next()) {
    if (++entries % kSayEvery == 0 && options.progress) {
      options.progress(static_cast<int64_t>(entry->offset), static_cast<int64_t>(bytes->size()));
    }
    const std::string_view file = std::string_view(entry->path).substr(entry->path.rfind('/') + 1);
    if (entry->kind != TarEntry::Kind::file || file.starts_with('.') || !is_annotation_name(file)) continue;
    annotations.take(path + "/" + entry->path, [&] {
      if (entry->size > kLongestFile) refuse_size();
      std::string xml(static_cast<size_t>(entry->size), '\0');
      xml.resize(bytes->read(entry->offset, xml.data(), xml.size()));
      return xml;
    });
  }
  return std::move(annotations.found);
}

FoundBoxes read_folder(const std::string& folder, const BoxReading& options) {
  Annotations annotations(options);
  for (const std::string& path : files_below(folder, "the folder", is_annotation_name)) {
    annotations.take(path, [&] {
      std::error_code error;
      const uint64_t size = fs::file_size(path, error);
      if (error) throw BadAnnotation("it is no file that can be read");
      if (size > kLongestFile) refuse_size();
      return read_file(path);
    });
  }
  return std::move(annotations.found);
}

/// NAME and four numbers; nothing for a line that is none.
struct Line {
  std::string_view name;
  std::array<double, 4> corners{};
};
std::optional<Line> read_line(std::string_view text) {
  Line line;
  size_t comma = text.find(',');
  line.name = text.substr(0, comma);
  for (double& value : line.corners) {
    if (comma == std::string_view::npos) return std::nullopt;
    text.remove_prefix(comma + 1);
    comma = text.find(',');
    const std::string_view field = text.substr(0, comma);
    const auto end = std::from_chars(field.data(), field.data() + field.size(), value);
    // "not in" holds for what is no number either.
    if (end.ec != std::errc() || end.ptr != field.data() + field.size() || !(value >= 0 && value <= 1)) {
      return std::nullopt;
    }
  }
  return comma == std::string_view::npos && !image_stem(line.name).empty() ? std::optional(line) : std::nullopt;
}

/// A list, piece by piece.
class List {
 public:
  explicit List(const std::string& path) : path_(path) {}

  FoundBoxes read() {
    const Descriptor fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) throw file_error("open", path_);
    std::string piece(size_t{1} << 20, '\0');
    std::string begun;  // a line that goes on in the next piece
    uint64_t offset = 0;
    while (const size_t got = read_at(fd.get(), offset, piece.data(), piece.size(), path_)) {
      offset += got;
      std::string_view left(piece.data(), got);
      for (size_t end = left.find('\n'); end != std::string_view::npos; end = left.find('\n')) {
        begun += left.substr(0, end);
        left.remove_prefix(end + 1);
        take(begun);
        begun.clear();
      }
      if (left.size() > kLongestLine) refuse_line();
      begun += left;
    }
    if (!begun.empty()) take(begun);
    return std::move(found_);
  }

 private:
  [[noreturn]] void refuse_line() const {
    refuse("line " + std::to_string(number_ + 1) + " of " + path_ + " is no NAME,XMIN,YMIN,XMAX,YMAX");
  }

  void take(std::string_view text) {
    if (text.ends_with('\r')) text.remove_suffix(1);
    const auto line = read_line(text);
    if (!line || text.size() > kLongestLine) refuse_line();
    ++number_;
    const auto& [xmin, ymin, xmax, ymax] = line->corners;
    if (const auto box = box_between(xmin, ymin, xmax, ymax)) {
      found_.table.add(image_stem(line->name), {&*box, 1});
    } else {
      ++found_.without_area;
    }
  }

  const std::string& path_;
  int64_t number_ = 0;  ///< lines so far
  FoundBoxes found_;
};

/// By its name, or by gzip's first bytes.
bool is_archive(const std::string& path) {
  if (path.ends_with(".tar") || path.ends_with(".tgz")) return true;
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw file_error("open", path);
  std::array<char, 2> head{};
  return read_at(fd.get(), 0, head.data(), head.size(), path) == head.size() && head[0] == '\x1f' && head[1] == '\x8b';
}

}  // namespace

FoundBoxes read_boxes(const std::string& path, const BoxReading& options) {
  std::error_code ignored;
  FoundBoxes found = fs::is_directory(path, ignored) ? read_folder(path, options)
                     : is_archive(path)              ? read_archive(path, options)
                                                     : List(path).read();
  if (found.table.boxes() == 0) {
    refuse(path + " has no bounding box" +
           (found.without_area > 0 ? " with an area, and " + std::to_string(found.without_area) + " without one"
                                   : std::string()));
  }
  found.table.finish();
  return found;
}

}  // namespace trainyard
