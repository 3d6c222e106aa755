#include "trainer/strategies/report.h"

namespace trainyard {

std::vector<RankFigures> rank_figures(std::span<const double> numbers) {
  std::vector<RankFigures> figures;
  for (size_t i = 0; i + 1 < numbers.size(); i += 2) figures.push_back({numbers[i], numbers[i + 1]});
  return figures;
}

}  // namespace trainyard
