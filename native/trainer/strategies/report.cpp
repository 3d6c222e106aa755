#include "trainer/strategies/report.h"

#include <algorithm>
#include <bit>

namespace trainyard {

std::vector<RankFigures> rank_figures(std::span<const double> numbers) {
  std::vector<RankFigures> figures;
  RankNumbers one{};
  for (; numbers.size() >= one.size(); numbers = numbers.subspan(one.size())) {
    std::copy_n(numbers.begin(), one.size(), one.begin());
    figures.push_back(std::bit_cast<RankFigures>(one));
  }
  return figures;
}

}  // namespace trainyard
