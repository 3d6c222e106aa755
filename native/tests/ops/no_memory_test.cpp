// Memory of no bytes, which a network without batch norm asks for: its running statistics.
#include <gtest/gtest.h>

#include "tests/ops/backends.h"

namespace trainyard::test {
namespace {

class NoMemory : public ContractTest {};
TRAINYARD_FOR_EVERY_BACKEND(NoMemory);

TEST_P(NoMemory, IsThereAndNothingIsCopied) {
  Backend& backend = bench_.backend();
  const auto figures = backend.memory_figures();
  const auto none = backend.allocate(0);
  ASSERT_NE(none, nullptr);
  EXPECT_EQ(none->bytes(), 0U);
  none->populate();
  float untouched = 7;
  backend.from_host(none->data(), &untouched, 0);
  backend.to_host(&untouched, none->data(), 0);
  backend.send(none->data(), &untouched, 0);
  EXPECT_EQ(untouched, 7);
  if (figures) EXPECT_EQ(backend.memory_figures()->used, figures->used);
}

}  // namespace
}  // namespace trainyard::test
