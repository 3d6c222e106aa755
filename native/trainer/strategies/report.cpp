#include "trainer/strategies/report.h"

namespace trainyard {

std::vector<RankFigures> rank_figures(std::span<const double> numbers) {
  std::vector<RankFigures> figures;
  for (size_t i = 0; i + kRankNumbers <= numbers.size(); i += kRankNumbers) {
    figures.push_back({numbers[i], numbers[i + 1], numbers[i + 2], numbers[i + 3], numbers[i + 4]});
  }
  return figures;
}

std::array<double, kRankNumbers> numbers_of(const RankFigures& figures) {
  return {figures.memory_used, figures.memory_peak, figures.gpu_used, figures.gpu_peak, figures.gpu_free};
}

}  // namespace trainyard
