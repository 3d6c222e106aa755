#include "proof/report.h"

#include <cstdio>

namespace trainyard::proof {

bool report(const std::string& what, const std::string& quantity, double error, double bound) {
  const bool ok = error <= bound;  // false for NaN
  std::printf("result\t%s\t%s\t%.3g\t%.3g\t%s\n", what.c_str(), quantity.c_str(), error, bound, ok ? "ok" : "wrong");
  return ok;
}

void figure(const std::string& what, const std::string& text) {
  std::printf("figure\t%s\t%s\n", what.c_str(), text.c_str());
}

void not_here(const std::string& why) { std::printf("not here\t%s\n", why.c_str()); }

}  // namespace trainyard::proof
