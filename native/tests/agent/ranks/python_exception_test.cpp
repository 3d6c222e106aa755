#include "agent/ranks/python_exception.h"

#include <cstdlib>

#include "agent/ranks/exit_record.h"
#include "tests/agent/support/run_fixture.h"

namespace trainyard::test {
namespace {

class PythonException : public ::testing::Test {
 protected:
  /// What a real Python that ran this text leaves in a log.
  std::optional<std::string> of_program(const std::string& text) {
    write_file(folder_.file("program.py"), text);
    const std::string line = "cd '" + folder_.path() + "' && " TRAINYARD_PYTHON " program.py > log 2>&1";
    EXPECT_NE(std::system(line.c_str()), 0);
    return last_python_exception(folder_.file("log"), 0);
  }
  std::optional<std::string> of_log(const std::string& text, uint64_t begin = 0) {
    write_file(folder_.file("log"), text);
    return last_python_exception(folder_.file("log"), begin);
  }

  TemporaryFolder folder_;
};

TEST_F(PythonException, IsTheLineThatEndsATraceback) {
  EXPECT_EQ(of_program("import nosuchmodule\n"), "ModuleNotFoundError: No module named 'nosuchmodule'");
  EXPECT_EQ(of_program("def f(:\n"), "SyntaxError: invalid syntax");
  EXPECT_EQ(of_program("raise RuntimeError('first\\nsecond')\n"), "RuntimeError: first");
  EXPECT_EQ(of_program("raise KeyboardInterrupt\n"), "KeyboardInterrupt");
  EXPECT_EQ(of_program("class E(Exception): pass\nraise E('own: of mine')\n"), "E: own: of mine");
  EXPECT_EQ(of_program("import sys\nprint('it is over'); sys.exit(1)\n"), std::nullopt);
  EXPECT_EQ(of_program("raise ValueError('x' * 5000)\n")->size(), 500U);
}

TEST_F(PythonException, OfSeveralIsTheLast) {
  EXPECT_EQ(of_program("try:\n  {}['a']\nexcept KeyError:\n  raise ValueError('b')\n"), "ValueError: b");
  const std::string early = "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'a'\n";
  EXPECT_EQ(of_log(early + std::string(100'000, 'x') + "\n"), std::nullopt) << "the log went on for long";
  EXPECT_EQ(of_log(early + "more\n", early.size()), std::nullopt) << "of an earlier start";
  EXPECT_EQ(of_log("50%|###  | 5/10" + early), "KeyError: 'a'") << "after a progress bar";
}

// The log of `torchrun --nproc-per-node 2` of torch 2.11.0 whose second process failed, shortened.
TEST_F(PythonException, OfTorchrunIsThatOfItsProcess) {
  EXPECT_EQ(of_log(R"([rank1]: Traceback (most recent call last):
[rank1]:   File "/tmp/ddp.py", line 5, in <module>
[rank1]:     raise ValueError('a bad batch')
[rank1]: ValueError: a bad batch
E1130 19:23:13.628000 24413 torch/distributed/elastic/multiprocessing/api.py:986] failed (exitcode: 1) local_rank: 1
Traceback (most recent call last):
  File "/opt/venv/bin/torchrun", line 8, in <module>
    sys.exit(main())
             ^^^^^^
  File "/opt/venv/lib/python3.11/site-packages/torch/distributed/launcher/api.py", line 317, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError: 
============================================================
ddp.py FAILED
------------------------------------------------------------
)"),
            "ValueError: a bad batch");
}

TEST(ExitRecordOfPython, AMistakeInTheTextIsNotTriedAgain) {
  ExitRecord record;
  record.host = "h";
  record.exit_code = 1;
  record.started = 1000;
  record.ended = 1010;
  EXPECT_TRUE(record.worth_retrying());
  record.exception = "ConnectionResetError: [Errno 104] Connection reset by peer";
  EXPECT_TRUE(record.worth_retrying());
  record.exception = "NameError: name 'modle' is not defined";
  EXPECT_FALSE(record.worth_retrying());
  EXPECT_EQ(record.description(), "rank 0 on h exited with code 1: NameError: name 'modle' is not defined");
  record.ended = 5000;
  EXPECT_TRUE(record.worth_retrying()) << "after an hour it may be of what handles a rare fault";
}

}  // namespace
}  // namespace trainyard::test
