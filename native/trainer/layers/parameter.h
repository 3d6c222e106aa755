// What a layer asks of the flat arenas: named tensors, and how their first values are drawn.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace trainyard {

enum class Init {
  zeros,
  ones,
  normal,   ///< mean 0, standard deviation `spread`
  uniform,  ///< in [-spread, spread)
};

struct Parameter {
  std::string name;            ///< as torchvision's: "layer1.0.conv1.weight"
  std::vector<int64_t> shape;  ///< row-major, convolutions as [out, in, height, width]
  size_t offset = 0;           ///< first element in its arena
  size_t size = 0;             ///< elements
  bool decay = true;           ///< weight decay applies
  Init init = Init::zeros;
  double spread = 0;
};

}  // namespace trainyard
