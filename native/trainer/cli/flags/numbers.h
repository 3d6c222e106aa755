// The one place where numbers on the command line are read: strictly, in a range that the message
// names in words.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace trainyard {

/// A whole number from least to most, in decimal digits, with a sign only where the range goes
/// below 0.
CLI::Validator whole_number(int64_t least, int64_t most);

/// What may stand at an end of a range of numbers.
enum class End : uint8_t { included, left_out };

/// A finite decimal number from least to most; an end that is left out itself is not allowed.
CLI::Validator number(double least, double most, End at_least = End::included, End at_most = End::included);

/// Numbers separated by commas, each as number() wants it.
CLI::Validator numbers(double least, double most, End at_least, End at_most);

// Ranges that several verbs share.
CLI::Validator seconds_range();         ///< above 0, up to a day
CLI::Validator threads_range();         ///< 1 to 1024
CLI::Validator threads_or_own_range();  ///< 0 to 1024, 0 leaves it to the verb
CLI::Validator batch_range();           ///< 1 to 65536 images
CLI::Validator image_size_range();      ///< 0 (the model's own) to 8192 pixels
CLI::Validator seed_range();            ///< 0 to 2^63 - 1
CLI::Validator label_offset_range();    ///< -1,000,000 to 1,000,000

/// Throws std::logic_error naming the first numeric flag, of `app` or a verb below, that none of
/// these validates.
void require_ranges(CLI::App& app);

}  // namespace trainyard
