#include "common/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace trainyard {
namespace {

TEST(Error, saysWhetherTryingAgainCanHelp) {
  EXPECT_EQ(Error(Exit::data, "the folder is empty. Fill it").retry(), Retry::pointless);
  EXPECT_EQ(Error(Exit::device, "no GPU. Use --device cpu").retry(), Retry::pointless);
  EXPECT_EQ(Error(Exit::usage, "no such flag. Leave it out").retry(), Retry::pointless);
  EXPECT_EQ(Error(Exit::internal, "a defect. Report it").retry(), Retry::worthwhile);
  EXPECT_EQ(Error(Exit::device, "NCCL: a rank is gone. Start again", Retry::worthwhile).retry(), Retry::worthwhile);
}

TEST(Error, ofAFileFollowsErrno) {
  for (const int transient : {EIO, ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN, ECONNRESET, EREMOTEIO}) {
    errno = transient;
    const Error error = file_error("read", "/data/a.jpg");
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_EQ(error.retry(), Retry::worthwhile) << error.what();
  }
  for (const int lasting : {ENOENT, EACCES, ENOSPC, EROFS, EISDIR, EMFILE}) {
    errno = lasting;
    EXPECT_EQ(file_error("read", "/data/a.jpg").retry(), Retry::pointless);
  }
  errno = ESTALE;
  EXPECT_STREQ(file_error("read", "/data/a.jpg").what(),
               "cannot read /data/a.jpg: Stale file handle. Check the disk or the server that holds it, and try again");
}

}  // namespace
}  // namespace trainyard
