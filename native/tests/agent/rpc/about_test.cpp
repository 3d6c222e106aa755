// A run's name, tags and notes: given at the start, changed later, kept by a start in its folder.
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

using AboutTest = RunTest;

const Json kAbout{{"name", "Größe 3"}, {"tags", {"baseline", "lr 0.1"}}, {"notes", "first\nsecond"}};

TEST_F(AboutTest, IsGivenAtTheStartChangedLaterAndKept) {
  Json spec = command_spec("true", 1);
  spec["about"] = kAbout;
  const std::string dir = start(spec);
  ASSERT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(client_->call("run.get", {{"dir", dir}})["about"], kAbout);
  EXPECT_EQ(text(dir + "/run.json").find("baseline"), std::string::npos) << "it stands in one file only";

  const Json changed{{"name", ""}, {"tags", Json::array({"kept"})}, {"notes", ""}};
  client_->call("run.describe", {{"dir", dir}, {"about", {{"tags", {"kept"}}}}});
  EXPECT_EQ(client_->call("run.get", {{"dir", dir}})["about"], changed);

  Json again = command_spec("true", 1);
  again["dir"] = dir;
  start(again);
  ASSERT_EQ(ended(dir)["phase"], "finished");
  EXPECT_EQ(client_->call("run.get", {{"dir", dir}})["about"], changed);
}

TEST_F(AboutTest, WhatIsTooLongIsRefusedAndChangesNothing) {
  const std::string dir = start(command_spec("true", 1));
  ASSERT_EQ(ended(dir)["phase"], "finished");
  EXPECT_TRUE(client_->call("run.get", {{"dir", dir}})["about"].is_null());
  client_->call("run.describe", {{"dir", dir}, {"about", kAbout}});
  for (const Json& wrong :
       {Json{{"name", std::string(401, 'a')}}, Json{{"name", "two\nlines"}}, Json{{"notes", std::string(16'001, 'a')}},
        Json{{"tags", std::vector<std::string>(21, "a")}}, Json{{"tags", {std::string(201, 'a')}}},
        Json{{"tags", "a"}}}) {
    EXPECT_EQ(client_->error("run.describe", {{"dir", dir}, {"about", wrong}})["code"], -32602) << wrong.dump();
  }
  EXPECT_EQ(client_->call("run.get", {{"dir", dir}})["about"], kAbout);
  EXPECT_EQ(client_->error("run.describe", {{"dir", "/nowhere"}, {"about", kAbout}})["code"], 1);
  write_file(dir + "/about.json", "{\"name\":7}");
  EXPECT_TRUE(client_->call("run.get", {{"dir", dir}})["about"].is_null());
}

}  // namespace
}  // namespace trainyard::test
