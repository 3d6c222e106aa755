#include "trainer/data/prepare/box_xml.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>

namespace trainyard {

namespace {

constexpr size_t kDeepest = 32;  // elements
constexpr std::string_view kSpace = " \t\r\n";
constexpr std::array<std::string_view, 4> kCorners{"xmin", "ymin", "xmax", "ymax"};

std::string_view trimmed(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(kSpace), text.size());
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

double number(std::string_view text, std::string_view name) {
  text = trimmed(text);
  double value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size() || !std::isfinite(value)) {
    throw BadAnnotation("its <" + std::string(name) + "> is no number");
  }
  return value;
}

/// Walks from tag to tag, and keeps what stands at the places that count.
class Walk {
 public:
  explicit Walk(std::string_view xml) : left_(xml) {
    if (left_.starts_with("\xef\xbb\xbf")) left_.remove_prefix(3);  // UTF-8's mark
  }

  Annotation run() {
    while (!left_.empty()) {
      const size_t open = std::min(left_.find('<'), left_.size());
      take_text(left_.substr(0, open));
      left_.remove_prefix(open);
      if (!left_.empty()) take_markup();
    }
    if (!begun_ || !path_.empty()) throw BadAnnotation("it is cut short, or no XML");
    return scaled();
  }

 private:
  using Corners = std::array<std::optional<double>, 4>;

  void take_text(std::string_view text) {
    if (path_.empty() && !trimmed(text).empty()) throw BadAnnotation("it is no XML: it has text outside of elements");
    // Only the text of a number counts. A comment may split it.
    if (is_number()) text_ += text;
  }

  void take_markup() {
    if (left_.starts_with("<!--")) return skip_to("-->", 4);
    if (left_.starts_with("<?")) return skip_to("?>", 2);
    if (left_.starts_with("<!DOCTYPE") && path_.empty()) {
      const size_t end = left_.find('>');
      // What a document declares for itself is how XML becomes huge; no annotation needs it.
      if (left_.substr(0, end).find('[') != std::string_view::npos) throw BadAnnotation("it declares entities");
      return skip_to(">", 2);
    }
    if (left_.starts_with("<!")) throw BadAnnotation("it has a declaration or a CDATA section within");
    take_tag();
  }

  void skip_to(std::string_view mark, size_t from) {
    const size_t end = left_.find(mark, from);
    if (end == std::string_view::npos) throw BadAnnotation("it is cut short");
    left_.remove_prefix(end + mark.size());
  }

  /// Bytes of the tag without "<" and ">", which may stand in an attribute's value too.
  std::string_view tag() {
    char quote = '\0';
    for (size_t i = 1; i < left_.size(); ++i) {
      const char c = left_[i];
      if (quote == '\0' && c == '>') {
        const std::string_view inside = left_.substr(1, i - 1);
        left_.remove_prefix(i + 1);
        return inside;
      }
      if (quote == c) {
        quote = '\0';
      } else if (quote == '\0' && (c == '"' || c == '\'')) {
        quote = c;
      }
    }
    throw BadAnnotation("it is cut short");
  }

  void take_tag() {
    std::string_view inside = tag();
    if (inside.starts_with('/')) return close(trimmed(inside.substr(1)));
    const bool empty = inside.ends_with('/');
    if (empty) inside.remove_suffix(1);
    open(inside.substr(0, inside.find_first_of(kSpace)));
    if (empty) close(path_.back());
  }

  void open(std::string_view name) {
    if (name.empty()) throw BadAnnotation("it is no XML: it has a tag without a name");
    if (path_.size() == kDeepest) throw BadAnnotation("its elements are nested too deep");
    if (path_.empty()) {
      if (begun_ || name != "annotation") throw BadAnnotation("it is no annotation: its root is not one <annotation>");
      begun_ = true;
    }
    path_.push_back(name);
    text_.clear();
    if (is_at({"annotation", "object", "bndbox"})) corners_ = {};
  }

  void close(std::string_view name) {
    if (path_.empty() || path_.back() != name) throw BadAnnotation("its elements are not closed in their order");
    if (is_number()) keep(name);
    if (is_at({"annotation", "object", "bndbox"})) keep_box();
    path_.pop_back();
  }

  bool is_at(std::initializer_list<std::string_view> place) const {
    return std::equal(path_.begin(), path_.end(), place.begin(), place.end());
  }

  /// Whether a number that counts stands here.
  bool is_number() const {
    if (is_at({"annotation", "size", "width"}) || is_at({"annotation", "size", "height"})) return true;
    return path_.size() == 4 && is_at({"annotation", "object", "bndbox", path_.back()}) &&
           std::find(kCorners.begin(), kCorners.end(), path_.back()) != kCorners.end();
  }

  void keep(std::string_view name) {
    const double value = number(text_, name);
    if (name == "width") {
      width_ = value;
    } else if (name == "height") {
      height_ = value;
    } else {
      corners_[static_cast<size_t>(std::find(kCorners.begin(), kCorners.end(), name) - kCorners.begin())] = value;
    }
  }

  void keep_box() {
    for (size_t i = 0; i < kCorners.size(); ++i) {
      if (!corners_[i]) throw BadAnnotation("a <bndbox> has no <" + std::string(kCorners[i]) + ">");
    }
    boxes_.push_back(corners_);
  }

  Annotation scaled() const {
    Annotation found;
    if (!boxes_.empty() && (width_ <= 0 || height_ <= 0)) throw BadAnnotation("it names no <size> of its image");
    for (const auto& [xmin, ymin, xmax, ymax] : boxes_) {
      if (const auto box = box_between(*xmin / width_, *ymin / height_, *xmax / width_, *ymax / height_)) {
        found.boxes.push_back(*box);
      } else {
        ++found.without_area;
      }
    }
    return found;
  }

  std::string_view left_;
  std::vector<std::string_view> path_;  ///< names of the open elements, the outermost first
  std::string text_;                    ///< of the number that is being read
  bool begun_ = false;
  double width_ = 0;
  double height_ = 0;
  Corners corners_;
  std::vector<Corners> boxes_;
};

}  // namespace

Annotation read_annotation(std::string_view xml) { return Walk(xml).run(); }

}  // namespace trainyard
