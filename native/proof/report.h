// What the proof prints for scripts/gpu/proof.py: lines of fields between tabs.
#pragma once
#include <string>

namespace trainyard::proof {

/// A comparison; its last field is ok or wrong. Returns whether error is at most bound (NaN is
/// not).
bool report(const std::string& what, const std::string& quantity, double error, double bound);

/// Something measured or seen, without a verdict.
void figure(const std::string& what, const std::string& text);

/// The part cannot be shown on this machine, and why.
void not_here(const std::string& why);

}  // namespace trainyard::proof
