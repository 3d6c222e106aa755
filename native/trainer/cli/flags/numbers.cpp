#include "trainer/cli/flags/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace trainyard {
namespace {

constexpr const char* validator_name = "number";

std::string text_of(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

/// Long input is cut: it is a slip, and the message stays a line.
std::string in_quotes(const std::string& input) {
  constexpr size_t longest = 40;
  return "'" + (input.size() > longest ? input.substr(0, longest) + "…" : input) + "'";
}

std::optional<int64_t> whole(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? std::optional(value) : std::nullopt;
}

/// No hexadecimal, infinity or NaN, which strtod would take.
std::optional<double> decimal(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789+-.eE") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

struct Bounds {
  double least;
  double most;
  End at_least;
  End at_most;

  bool holds(double value) const {
    return (at_least == End::included ? value >= least : value > least) &&
           (at_most == End::included ? value <= most : value < most);
  }
  std::string words() const {
    return (at_least == End::included ? "from " : "above ") + text_of(least) +
           (at_most == End::included ? (at_least == End::included ? " to " : " up to ") : " and below ") +
           text_of(most);
  }
  /// For --help, a word.
  std::string shown() const {
    return (at_least == End::included ? "" : ">") + text_of(least) + ".." + (at_most == End::included ? "" : "<") +
           text_of(most);
  }
};

std::string refused(const std::string& input, const std::string& wanted) {
  return in_quotes(input) + " is not " + wanted;
}

}  // namespace

CLI::Validator whole_number(int64_t least, int64_t most) {
  const auto check = [least, most](std::string& input) -> std::string {
    const auto value = whole(input);
    if (!value || *value < least || *value > most)
      return refused(input, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    input = std::to_string(*value);  // CLI11 takes a leading 0 for octal
    return "";
  };
  return {check, std::to_string(least) + ".." + std::to_string(most), validator_name};
}

CLI::Validator number(double least, double most, End at_least, End at_most) {
  const Bounds bounds{least, most, at_least, at_most};
  const auto check = [bounds](std::string& input) -> std::string {
    const auto value = decimal(input);
    return value && bounds.holds(*value) ? "" : refused(input, "a number " + bounds.words());
  };
  return {check, bounds.shown(), validator_name};
}

CLI::Validator numbers(double least, double most, End at_least, End at_most) {
  const Bounds bounds{least, most, at_least, at_most};
  const auto check = [bounds](std::string& input) -> std::string {
    std::stringstream words(input);
    for (std::string word; std::getline(words, word, ',');) {
      const auto value = decimal(word);
      if (!value || !bounds.holds(*value)) return refused(word, "a number " + bounds.words());
    }
    return input.empty() || input.back() == ',' ? "a number is missing in " + in_quotes(input) : "";
  };
  return {check, bounds.shown(), validator_name};
}

CLI::Validator seconds_range() { return number(0, 86400, End::left_out); }
CLI::Validator threads_range() { return whole_number(1, 1024); }
CLI::Validator threads_or_own_range() { return whole_number(0, 1024); }
CLI::Validator batch_range() { return whole_number(1, 65536); }
CLI::Validator image_size_range() { return whole_number(0, 8192); }
CLI::Validator seed_range() { return whole_number(0, std::numeric_limits<int64_t>::max()); }
CLI::Validator label_offset_range() { return whole_number(-1'000'000, 1'000'000); }

void require_ranges(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    const std::string type = option->get_type_name();
    const bool numeric = type.starts_with("INT") || type.starts_with("UINT") || type.starts_with("FLOAT");
    if (!numeric) continue;
    try {
      option->get_validator(validator_name);
    } catch (const CLI::OptionNotFound&) {
      throw std::logic_error(app.get_name() + " " + option->get_name() + " has no range (trainer/cli/flags/numbers.h)");
    }
  }
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) require_ranges(*verb);
}

}  // namespace trainyard
