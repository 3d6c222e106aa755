// Libraries that are damaged, before dlopen sees them; and a GPU that cannot be seen.
#include "trainer/ops/elf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/error.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

class ElfFile : public testing::Test {
 protected:
  ElfFile() : path_(fs::path(testing::TempDir()) / ("elf-" + std::to_string(::getpid()) + ".so")) {
    Dl_info libc{};
    if (::dladdr(reinterpret_cast<void*>(&::getpid), &libc) == 0) return;
    std::ifstream file(libc.dli_fname, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(file), {});
  }
  ~ElfFile() override {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  std::string damage_of(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    return elf_damage(path_.string());
  }
  Elf64_Ehdr header() const {
    Elf64_Ehdr header{};
    std::memcpy(&header, whole_.data(), sizeof(header));
    return header;
  }
  std::string with_header(const Elf64_Ehdr& header) const {
    std::string bytes = whole_;
    std::memcpy(bytes.data(), &header, sizeof(header));
    return bytes;
  }

  fs::path path_;
  std::string whole_;
};

TEST_F(ElfFile, AWholeOneIsWhole) {
  ASSERT_GT(whole_.size(), 10000U);
  EXPECT_EQ(damage_of(whole_), "");
}

TEST_F(ElfFile, OneThatWasCutShortAnywhereIsNot) {
  for (const size_t size : {size_t{5}, size_t{63}, size_t{64}, size_t{200}, whole_.size() / 2, whole_.size() - 1}) {
    EXPECT_NE(damage_of(whole_.substr(0, size)).find("cut short at " + std::to_string(size) + " bytes"),
              std::string::npos)
        << size;
  }
}

TEST_F(ElfFile, AnotherKindOfFileIsNone) {
  EXPECT_EQ(damage_of(""), "is no shared library");
  EXPECT_EQ(damage_of("no library\n"), "is no shared library");
  Elf64_Ehdr foreign = header();
  foreign.e_machine = EM_AARCH64;
  EXPECT_EQ(damage_of(with_header(foreign)), "is no shared library for x86-64");
  Elf64_Ehdr object = header();
  object.e_type = ET_REL;
  EXPECT_EQ(damage_of(with_header(object)), "is no shared library for x86-64");
  EXPECT_EQ(elf_damage("/nowhere/lib.so"), "cannot be read");
}

TEST_F(ElfFile, HeadersThatOverflowAreNotBelieved) {
  Elf64_Ehdr wild = header();
  wild.e_phoff = ~uint64_t{0} - 8;
  EXPECT_NE(damage_of(with_header(wild)), "");
  wild = header();
  wild.e_shoff = ~uint64_t{0};
  EXPECT_NE(damage_of(with_header(wild)), "");
  wild = header();
  wild.e_phentsize = 1;
  EXPECT_NE(damage_of(with_header(wild)), "");
}

TEST_F(ElfFile, NamesWhatItNeeds) {
  const auto needs_of = [this](const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return elf_needs(path_.string());
  };
  // The C library needs the loader alone.
  const auto needs = needs_of(whole_);
  ASSERT_EQ(needs.size(), 1U);
  EXPECT_EQ(needs[0].rfind("ld-linux-x86-64.so", 0), 0U) << needs[0];
  EXPECT_TRUE(needs_of("no library").empty());
  EXPECT_TRUE(needs_of(whole_.substr(0, 100)).empty());
  Elf64_Ehdr wild = header();
  wild.e_phoff = ~uint64_t{0} - 8;
  EXPECT_TRUE(needs_of(with_header(wild)).empty());
  EXPECT_TRUE(elf_needs("/nowhere/lib.so").empty());
}

/// As many devices as it is told.
class Devices final : public CudaLibrary {
 public:
  explicit Devices(size_t count) : count_(count) {}
  std::vector<CudaDevice> devices() override {
    CudaDevice one;
    one.usable = true;
    return std::vector<CudaDevice>(count_, one);
  }
  std::unique_ptr<Backend> open(int, PlanChooser*) override { return nullptr; }
  std::string versions() override { return "CUDA 13.0"; }
  std::string nccl_version() override { return "0.0.0"; }
  std::string nvjpeg_version() override { return "none"; }
  std::unique_ptr<DeviceJpeg> make_jpeg_decoder(int /*device*/) override { return nullptr; }

 private:
  size_t count_;
};

std::string refusal(size_t devices, int index, const char* visible) {
  if (visible == nullptr) {
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  } else {
    ::setenv("CUDA_VISIBLE_DEVICES", visible, 1);
  }
  Devices library(devices);
  std::string text;
  try {
    require_cuda_device(library, index);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    text = error.what();
  }
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  return text;
}

TEST(VisibleDevices, AreNamedWhereNoneIsSeen) {
  EXPECT_EQ(refusal(2, 1, nullptr), "");
  EXPECT_NE(refusal(0, 0, nullptr).find("CUDA_VISIBLE_DEVICES is not set"), std::string::npos);
  EXPECT_NE(refusal(0, 0, "").find("CUDA_VISIBLE_DEVICES is empty, which hides every GPU"), std::string::npos);
  EXPECT_NE(refusal(0, 0, "9").find("CUDA_VISIBLE_DEVICES is '9'"), std::string::npos);
  const std::string few = refusal(1, 1, "0");
  EXPECT_NE(few.find("wants CUDA device 1, but only 1 can be seen"), std::string::npos) << few;
  EXPECT_NE(few.find("CUDA_VISIBLE_DEVICES is '0'"), std::string::npos) << few;
}

TEST(VisibleDevices, AreTheRanksOwnWhereTheAgentChose) {
  ::unsetenv("TRAINYARD_GPUS");
  EXPECT_EQ(own_cuda_device(3), 3);
  ::setenv("TRAINYARD_GPUS", "4,5,6,7", 1);
  EXPECT_EQ(own_cuda_device(3), 0);
  ::unsetenv("TRAINYARD_GPUS");
}

}  // namespace
}  // namespace trainyard
