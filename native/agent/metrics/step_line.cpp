#include "agent/metrics/step_line.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace trainyard {

namespace {

constexpr size_t kImages = kStepFields;          ///< the field `images`
constexpr size_t kPassedOver = kStepFields + 1;  ///< a field that StepLine does not name

/// So many digits always fit into 64 bits. One of them stands before the point.
constexpr size_t kMostDigits = 19;

/// Doubles hold these without an error.
constexpr std::array<double, kMostDigits> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
static_assert(std::numeric_limits<long double>::digits == 64, "nearest() counts on x87's long double");

/// The double that is nearest to digits / 10^decimals; nothing where that takes more care. Where
/// both are doubles without an error, their quotient is rounded once (W. D. Clinger, How to Read
/// Floating Point Numbers Accurately, 1990). Else the quotient is rounded to 64 bits and then to
/// 53. That comes to the same, unless the first result lies in the middle between two doubles.
std::optional<double> nearest(uint64_t digits, size_t decimals) {
  constexpr uint64_t kExact = uint64_t{1} << 53;
  if (digits < kExact) return static_cast<double>(digits) / kPowers[decimals];
  const long double quotient = static_cast<long double>(digits) / kPowers[decimals];
  uint64_t mantissa = 0;
  std::memcpy(&mantissa, &quotient, sizeof mantissa);
  constexpr uint64_t kLower = (1U << 11) - 1;
  constexpr uint64_t kMiddle = 1U << 10;
  if ((mantissa & kLower) == kMiddle) return std::nullopt;
  return static_cast<double>(quotient);
}

uint64_t eight_bytes(const char* at) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/// Eight digits at once: bytes as one number, of which neighbours are added up three times.
std::optional<uint64_t> eight_digits(const char* at) {
  uint64_t bytes = eight_bytes(at);
  constexpr uint64_t kHigh = 0xF0F0F0F0F0F0F0F0U;
  const uint64_t above_nine = ((bytes + 0x0606060606060606U) & kHigh) >> 4U;
  if (((bytes & kHigh) | above_nine) != 0x3333333333333333U) return std::nullopt;
  bytes = ((bytes & 0x0F0F0F0F0F0F0F0FU) * (10 * 256 + 1)) >> 8U;
  bytes = ((bytes & 0x00FF00FF00FF00FFU) * (100 * 65536 + 1)) >> 16U;
  return ((bytes & 0x0000FFFF0000FFFFU) * ((uint64_t{10000} << 32U) + 1)) >> 32U;
}

/// Adds the digits at `at` to `digits`, as long as they fit. Their number.
size_t take_digits(const char*& at, const char* end, uint64_t& digits, size_t room) {
  size_t taken = 0;
  while (room - taken >= 8 && end - at >= 8) {
    const auto eight = eight_digits(at);
    if (!eight) break;
    digits = digits * 100'000'000 + *eight;
    at += 8;
    taken += 8;
  }
  for (; taken < room && at != end && *at >= '0' && *at <= '9'; ++at, ++taken) {
    digits = digits * 10 + static_cast<uint64_t>(*at - '0');
  }
  return taken;
}

/// A decimal number without an exponent, behind which a field or the line ends.
std::optional<double> plain_number(const char*& begin, const char* end) {
  const char* at = begin;
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  uint64_t digits = 0;
  const size_t whole = take_digits(at, end, digits, kMostDigits);
  if (whole == 0) return std::nullopt;
  size_t decimals = 0;
  if (at != end && *at == '.') {
    ++at;
    decimals = take_digits(at, end, digits, kMostDigits - whole);
    if (decimals == 0) return std::nullopt;
  }
  if (at != end && *at != ',' && *at != '}' && *at != ' ') return std::nullopt;
  const auto value = nearest(digits, decimals);
  if (!value) return std::nullopt;
  begin = at;
  return negative ? -*value : *value;
}

std::optional<double> number_at(const char*& at, const char* end) {
  if (const auto value = plain_number(at, end)) return value;
  double value = 0;
  const auto [stopped, error] = std::from_chars(at, end, value);
  if (error != std::errc()) return std::nullopt;
  at = stopped;
  return value;
}

/// Whether the bytes from `at` to `end` begin with `wanted`; `at` is then behind it.
bool take_text(const char*& at, const char* end, std::string_view wanted) {
  size_t left = wanted.size();
  if (static_cast<size_t>(end - at) < left) return false;
  const char* other = wanted.data();
  const char* own = at;
  for (; left >= 8; left -= 8, own += 8, other += 8) {
    if (eight_bytes(own) != eight_bytes(other)) return false;
  }
  for (; left > 0; --left, ++own, ++other) {
    if (*own != *other) return false;
  }
  at = own;
  return true;
}

/// Behind the number at `at`, whatever it is; false where there is none.
bool pass_number(const char*& at, const char* end) {
  if (at == end || (*at != '-' && (*at < '0' || *at > '9'))) return false;
  constexpr uint64_t kOnes = 0x0101010101010101U;
  constexpr uint64_t kTops = 0x8080808080808080U;
  while (end - at >= 8) {
    const uint64_t other = eight_bytes(at) ^ (kOnes * ',');
    const uint64_t commas = (other - kOnes) & ~other & kTops;  // the lowest bit is that of the first comma
    if (commas != 0) {
      at += std::countr_zero(commas) / 8;
      return true;
    }
    at += 8;
  }
  while (at != end && *at != ',' && *at != '}') ++at;
  return true;
}

constexpr std::string_view kNull = "null";
bool null_at(const char*& at, const char* end) {
  if (!std::string_view(at, static_cast<size_t>(end - at)).starts_with(kNull)) return false;
  at += kNull.size();
  return true;
}

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
    return number_at(at_, end_);
  }

  bool null() {
    skip_space();
    return null_at(at_, end_);
  }

  /// Where the next value begins, or the last one ended.
  const char* at() {
    skip_space();
    return at_;
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
  return key == "images" ? kImages : kPassedOver;
}

constexpr bool may_be_null(size_t index) {
  return index == static_cast<size_t>(StepField::loss) || index == static_cast<size_t>(StepField::top1);
}

void put(StepLine& line, size_t index, double value) {
  if (index == kImages) {
    line.images = value;
    return;
  }
  line.values[index] = value;
  if (index == static_cast<size_t>(StepField::loss)) line.has_loss = true;
  if (index == static_cast<size_t>(StepField::top1)) line.has_top1 = true;
}

}  // namespace

std::optional<StepLine> StepLineReader::read(std::string_view text) {
  StepLine line;
  if (!pieces_.empty() && read_alike(text, line)) return line;
  return read_any(text);
}

bool StepLineReader::read_alike(std::string_view text, StepLine& line) const {
  const char* at = text.data();
  const char* end = at + text.size();
  for (const auto& [before, index] : pieces_) {
    if (!take_text(at, end, before)) return false;
    if (may_be_null(index) && null_at(at, end)) continue;
    const bool is_needed = index == kImages || (index < kStepFields && ((needed_ >> index) & 1U) != 0);
    // The last number may have no comma behind it.
    if (!is_needed && &before != &pieces_.back().before) {
      if (!pass_number(at, end)) return false;
      continue;
    }
    const auto value = number_at(at, end);
    if (!value) return false;
    if (index != kPassedOver) put(line, index, *value);
  }
  return take_text(at, end, end_) && at == end;
}

std::optional<StepLine> StepLineReader::read_any(std::string_view text) {
  Scanner scan(text);
  StepLine line;
  std::vector<Piece> pieces;
  const char* value_end = text.data();
  bool is_step = false, is_flat = true;
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
    if (index < kStepFields) next = index + 1;
    const char* begin = scan.at();
    pieces.push_back({std::string(value_end, begin), index});
    if (!may_be_null(index) || !scan.null()) {
      const auto value = scan.number();
      if (!value && index != kPassedOver) return std::nullopt;
      if (!value && !scan.skip_value()) return std::nullopt;
      if (!value) is_flat = false;
      if (value && index != kPassedOver) put(line, index, *value);
    }
    if (index < kStepFields) seen |= 1U << index;
    value_end = scan.at();
  } while (scan.take(','));
  if (!scan.take('}') || !is_step || seen != kAllStepFields) return std::nullopt;
  if (is_flat) {
    pieces_ = std::move(pieces);
    end_ = std::string(value_end, text.data() + text.size());
  }
  return line;
}

}  // namespace trainyard
