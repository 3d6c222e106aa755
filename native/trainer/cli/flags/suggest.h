// "Did you mean": the known word nearest to a mistyped one.
#pragma once
#include <span>
#include <string>

namespace trainyard {

/// Insertions, deletions and substitutions between two words (Levenshtein 1966).
size_t edit_distance(const std::string& a, const std::string& b);

/// The nearest of `known`, or "" when none is near (more than half of its letters differ).
std::string nearest(const std::string& word, std::span<const std::string> known);

}  // namespace trainyard
