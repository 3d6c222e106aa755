#include "agent/metrics/step_line.h"

#include <charconv>
#include <system_error>

namespace trainyard {

namespace {

constexpr size_t kNone = kStepFields;
constexpr uint32_t kAll = (1U << kStepFields) - 1;

/// Every power of ten that a double holds without an error.
constexpr std::array<double, 23> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                         1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads a flat JSON object. What it does not understand makes it fail, and the line counts as
/// none.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool take(char wanted) {
    skip_space();
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }

  /// The text between the quotes. Keys of ours have no escapes.
  std::optional<std::string_view> string() {
    if (!take('"')) return std::nullopt;
    const char* begin = at_;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      if (*at_ != '\\') continue;
      ++at_;
      if (at_ == end_) return std::nullopt;
    }
    if (at_ == end_) return std::nullopt;
    const std::string_view text(begin, static_cast<size_t>(at_ - begin));
    ++at_;
    return text;
  }

  std::optional<double> number() {
    skip_space();
    if (const auto value = plain_number()) return value;
    double value = 0;
    const auto [stopped, error] = std::from_chars(at_, end_, value);
    if (error != std::errc()) return std::nullopt;
    at_ = stopped;
    return value;
  }

  bool null() {
    skip_space();
    if (!std::string_view(at_, static_cast<size_t>(end_ - at_)).starts_with("null")) return false;
    at_ += 4;
    return true;
  }

  /// Passes over one value of any type.
  bool skip_value() {
    int depth = 0;
    do {
      skip_space();
      if (at_ == end_) return false;
      if (*at_ == '"') {
        if (!string()) return false;
      } else if (*at_ == '{' || *at_ == '[') {
        ++depth;
        ++at_;
      } else if (*at_ == '}' || *at_ == ']') {
        if (--depth < 0) return false;
        ++at_;
      } else {
        ++at_;  // of a number, a word, a comma or a colon
      }
    } while (depth > 0 || !ends_value());
    return true;
  }

 private:
  /// A decimal number without an exponent whose digits are below 2^53. Then the digits and the power
  /// of ten are doubles without an error, and their quotient is rounded once: it is the nearest
  /// double (W. D. Clinger, How to Read Floating Point Numbers Accurately, 1990).
  std::optional<double> plain_number() {
    constexpr uint64_t kExact = uint64_t{1} << 53;
    const char* at = at_;
    const bool negative = at != end_ && *at == '-';
    if (negative) ++at;
    uint64_t digits = 0;
    const auto take_digits = [&] {
      const char* begin = at;
      for (; at != end_ && *at >= '0' && *at <= '9' && digits < kExact; ++at) {
        digits = digits * 10 + static_cast<uint64_t>(*at - '0');
      }
      return static_cast<size_t>(at - begin);
    };
    if (take_digits() == 0) return std::nullopt;
    size_t decimals = 0;
    if (at != end_ && *at == '.') {
      ++at;
      decimals = take_digits();
      if (decimals == 0) return std::nullopt;
    }
    const bool ended = at == end_ || *at == ',' || *at == '}' || *at == ' ';
    if (!ended || digits >= kExact || decimals >= kPowers.size()) return std::nullopt;
    at_ = at;
    const double value = static_cast<double>(digits) / kPowers[decimals];
    return negative ? -value : value;
  }

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  bool ends_value() const { return at_ == end_ || *at_ == ',' || *at_ == '}'; }

  const char* at_;
  const char* end_;
};

/// `guess` is looked at first: every line has its fields in the same order.
size_t index_of(std::string_view key, size_t guess) {
  for (size_t tried = 0; tried < kStepFields; ++tried) {
    const size_t index = (guess + tried) % kStepFields;
    if (kStepFieldNames[index] == key) return index;
  }
  return kNone;
}

constexpr bool may_be_null(size_t index) {
  return index == static_cast<size_t>(StepField::loss) || index == static_cast<size_t>(StepField::top1);
}

}  // namespace

std::optional<StepLine> read_step_line(std::string_view text) {
  Scanner scan(text);
  StepLine line;
  bool is_step = false;
  uint32_t seen = 0;
  size_t next = 0;
  if (!scan.take('{')) return std::nullopt;
  do {
    const auto key = scan.string();
    if (!key || !scan.take(':')) return std::nullopt;
    if (*key == "kind") {
      if (scan.string() != "step") return std::nullopt;
      is_step = true;
      continue;
    }
    const size_t index = index_of(*key, next);
    if (index != kNone) next = index + 1;
    if (index == kNone && *key != "images") {
      if (!scan.skip_value()) return std::nullopt;
      continue;
    }
    if (index != kNone && may_be_null(index) && scan.null()) {
      seen |= 1U << index;
      continue;
    }
    const auto value = scan.number();
    if (!value) return std::nullopt;
    if (index == kNone) {
      line.images = value;
      continue;
    }
    line.values[index] = *value;
    seen |= 1U << index;
    if (index == static_cast<size_t>(StepField::loss)) line.has_loss = true;
    if (index == static_cast<size_t>(StepField::top1)) line.has_top1 = true;
  } while (scan.take(','));
  if (!scan.take('}') || !is_step || seen != kAll) return std::nullopt;
  return line;
}

}  // namespace trainyard
