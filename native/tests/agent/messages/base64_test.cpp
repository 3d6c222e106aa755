#include "agent/messages/base64.h"

#include <gtest/gtest.h>

namespace trainyard::test {
namespace {

TEST(Base64, KnowsTheVectorsOfItsStandard) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64(std::string("\xff\x00\xfe", 3)), "/wD+");
}

TEST(Base64, ComesBackAsItWas) {
  std::string bytes;
  for (int value = 0; value < 256; ++value) bytes.push_back(static_cast<char>(value));
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(decode_base64(base64(bytes.substr(0, length))), bytes.substr(0, length));
  }
  EXPECT_FALSE(decode_base64("abc"));
  EXPECT_FALSE(decode_base64("ab-="));
}

}  // namespace
}  // namespace trainyard::test
