// One image of the demonstration data set.
#pragma once
#include "trainer/base/random.h"
#include "trainer/data/images/image.h"
#include "trainer/data/pixels/shapes.h"

namespace trainyard {

/// Draws `shape` at a random place, size, turn and colour over a cluttered ground, under uneven
/// light, with sensor noise. No colour, place or brightness belongs to a shape: only its outline
/// tells which it is.
Image draw_demo_image(const DrawnShape& shape, int size, Random& random);

}  // namespace trainyard
