// libtrainer_cuda.so as it was built, for CUDA 13 and in another program for CUDA 12: loads or says
// why not, refuses another trainer, and has kernels without spills.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>

#include "common/error.h"
#include "trainer/ops/cuda_library.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = TRAINYARD_CUDA_FOLDER;
const fs::path kLibrary = kFolder / "libtrainer_cuda.so";
#define RELEASE TRAINYARD_CUDA_RELEASE
const std::string kOwnLibraries = TRAINYARD_CUDA_TOOLKIT "/cu" RELEASE "/lib";

class CudaLibraryFile : public testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(kLibrary)) GTEST_SKIP() << kLibrary << " was not built: node scripts/native/native.mjs cuda";
    const std::string toolkit = TRAINYARD_CUDA_TOOLKIT;
    ::setenv("TRAINYARD_CUDA_LIBRARY", kLibrary.c_str(), 1);
    ::setenv("TRAINYARD_NVIDIA_LIBRARIES", (kOwnLibraries + ":" + toolkit + "/cudnn/lib").c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("TRAINYARD_CUDA_LIBRARY");
    ::unsetenv("TRAINYARD_NVIDIA_LIBRARIES");
  }

  /// What load_cuda_library() throws.
  static std::string refusal() {
    try {
      load_cuda_library();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::device);
      return error.what();
    }
    return "";
  }

  /// Of an empty kernel by NVRTC, as cuDNN finds it: by its name.
  static std::string compiled() {
    void* nvrtc = ::dlopen("libnvrtc.so." RELEASE, RTLD_LAZY | RTLD_NOLOAD);
    if (nvrtc == nullptr) return "NVRTC is not loaded";
    const auto create = reinterpret_cast<int (*)(void**, const char*, const char*, int, const char**, const char**)>(
        ::dlsym(nvrtc, "nvrtcCreateProgram"));
    const auto compile = reinterpret_cast<int (*)(void*, int, const char**)>(::dlsym(nvrtc, "nvrtcCompileProgram"));
    void* program = nullptr;
    if (create(&program, "__global__ void nothing() {}", "nothing.cu", 0, nullptr, nullptr) != 0) return "no program";
    const char* target = "--gpu-architecture=" TRAINYARD_CUDA_FIRST_TARGET;
    const int result = compile(program, 1, &target);
    return result == 0 ? "compiled" : "NVRTC's error " + std::to_string(result);
  }

  /// That `load` names the file it looked for in `folder` and a folder that is not there, and the way round.
  static void expect_missing(std::string (*load)(CudaLibrary&), const std::string& file, const std::string& folder,
                             const std::string& instead) {
    const auto library = load_cuda_library();
    ::setenv("TRAINYARD_NVIDIA_LIBRARIES", (folder + ":/nowhere").c_str(), 1);
    if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) GTEST_SKIP() << "this system has " << file;
    try {
      load(*library);
      FAIL() << file << " out of nothing";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::device);
      const std::string text = error.what();
      EXPECT_NE(text.find(file + " was looked for in " + folder + ", /nowhere"), std::string::npos) << text;
      EXPECT_NE(text.find(instead), std::string::npos) << text;
    }
  }
};

TEST_F(CudaLibraryFile, SaysWhatItWasBuiltFor) {
  const std::string versions = load_cuda_library()->versions();
  EXPECT_TRUE(
      std::regex_search(versions, std::regex("^CUDA " RELEASE "\\.[0-9], .*cuDNN 9\\.[0-9]+\\.[0-9]+, cuBLAS " RELEASE
                                             "\\..*for " TRAINYARD_CUDA_FIRST_TARGET " .*sm_90$")))
      << versions;
}

TEST_F(CudaLibraryFile, HasADeviceOrSaysWhyNot) {
  const auto library = load_cuda_library();
  try {
    const auto devices = library->devices();
    if (!devices.empty()) {
      EXPECT_GT(devices[0].memory_total, 0U);
      return;
    }
  } catch (const Error& error) {
    // Thrown in the library, caught here: across two C++ runtimes.
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_NE(std::string(error.what()).find("Install the NVIDIA driver"), std::string::npos) << error.what();
  }
  try {
    open_cuda_backend(0);
    FAIL() << "a back end without a device";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_NE(std::string(error.what()).find("--device cpu"), std::string::npos) << error.what();
  }
}

/// Of a trainer whose folders have no NVRTC, in a process of its own, which has not loaded any.
TEST_F(CudaLibraryFile, SaysWhereNvrtcIsMissingAndGoesOn) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const std::string toolkit = TRAINYARD_CUDA_TOOLKIT;
  const fs::path folder = fs::path(testing::TempDir()) / "cublas-alone";
  fs::remove_all(folder);
  fs::create_directories(folder);
  for (const char* name : {"libcublasLt.so." RELEASE, "libcublas.so." RELEASE}) {
    fs::create_symlink(kOwnLibraries + "/" + name, folder / name);
  }
  EXPECT_EXIT(
      {
        ::setenv("TRAINYARD_NVIDIA_LIBRARIES", (folder.string() + ":" + toolkit + "/cudnn/lib").c_str(), 1);
        const bool system = ::dlopen("libnvrtc.so." RELEASE, RTLD_LAZY | RTLD_LOCAL) != nullptr;
        load_cuda_library();
        std::fprintf(stderr, "%s", system ? "this system has one" : nvrtc_trouble().c_str());
        std::exit(0);
      },
      testing::ExitedWithCode(0),
      "^this system has one$|^libnvrtc.so." RELEASE
      " was looked for in .*/cublas-alone, .* and where the system "
      ".*nvidia-cuda-nvrtc");
  fs::remove_all(folder);
}

/// NVRTC opens its builtins by name, when it compiles.
TEST_F(CudaLibraryFile, LoadsNvrtcSoThatItCompiles) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        load_cuda_library();
        std::fprintf(stderr, "%s%s", nvrtc_trouble().c_str(), compiled().c_str());
        std::exit(0);
      },
      testing::ExitedWithCode(0), "^compiled$");
}

// Before the next test, after which it is loaded.
TEST_F(CudaLibraryFile, SaysWhereNcclIsMissing) {
  expect_missing(load_nccl, "libnccl.so.2", kOwnLibraries, "--comm mpi");
}

TEST_F(CudaLibraryFile, MeetsTheNcclOfTheFolders) {
  const auto library = load_cuda_library();
  const std::string toolkit = TRAINYARD_CUDA_TOOLKIT;
  ::setenv("TRAINYARD_NVIDIA_LIBRARIES", (toolkit + "/nowhere:" + toolkit + "/nccl/lib").c_str(), 1);
  EXPECT_TRUE(std::regex_match(load_nccl(*library), std::regex("2\\.[0-9]+\\.[0-9]+")));
}

// Before the next test, after which it is loaded.
TEST_F(CudaLibraryFile, SaysWhereNvjpegIsMissing) {
  expect_missing(load_nvjpeg, "libnvjpeg.so." RELEASE, TRAINYARD_CUDA_TOOLKIT "/cudnn/lib", "--jpeg-decoder cpu");
}

TEST_F(CudaLibraryFile, MeetsTheNvjpegOfTheFolders) {
  const auto library = load_cuda_library();
  EXPECT_TRUE(std::regex_match(load_nvjpeg(*library), std::regex(RELEASE "\\.[0-9]+\\.[0-9]+")));
}

/// Errors of a decoder leave the library as Errors, with or without a device.
TEST_F(CudaLibraryFile, DecodesJpegsOnADeviceOrSaysWhyNot) {
  const auto library = load_cuda_library();
  load_nvjpeg(*library);
  try {
    EXPECT_NE(library->make_jpeg_decoder(0), nullptr);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::device);
    EXPECT_NE(std::string(error.what()).find("cudaSetDevice"), std::string::npos) << error.what();
  }
}

TEST_F(CudaLibraryFile, RefusesATrainerOfOtherSources) {
  void* library = ::dlopen(kLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    load_cuda_library();  // which first loads what it needs
    library = ::dlopen(kLibrary.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ASSERT_NE(library, nullptr);
  const auto entry = reinterpret_cast<CudaEntry>(::dlsym(library, kCudaEntryName));
  ASSERT_NE(entry, nullptr);
  const char* error = nullptr;
  EXPECT_EQ(entry("another", nullptr, &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(std::string(error).find("other sources"), std::string::npos);
}

TEST_F(CudaLibraryFile, AMissingOneIsNamedWithItsPlace) {
  ::setenv("TRAINYARD_CUDA_LIBRARY", "/nowhere/libtrainer_cuda.so", 1);
  EXPECT_NE(refusal().find("/nowhere/libtrainer_cuda.so"), std::string::npos) << refusal();
}

TEST_F(CudaLibraryFile, ADamagedOneIsNamedWithTheReason) {
  const fs::path damaged = fs::path(testing::TempDir()) / "damaged-libtrainer_cuda.so";
  std::ofstream(damaged) << "no library\n";
  ::setenv("TRAINYARD_CUDA_LIBRARY", damaged.c_str(), 1);
  const std::string text = refusal();
  fs::remove(damaged);
  EXPECT_NE(text.find(damaged.string() + " is no shared library"), std::string::npos) << text;
}

TEST_F(CudaLibraryFile, OneThatWasCutShortIsRefusedBeforeItIsMapped) {
  const fs::path damaged = fs::path(testing::TempDir()) / "short-libtrainer_cuda.so";
  fs::copy_file(kLibrary, damaged, fs::copy_options::overwrite_existing);
  ::setenv("TRAINYARD_CUDA_LIBRARY", damaged.c_str(), 1);
  const auto whole = fs::file_size(damaged);
  for (const auto size : {whole - 1, whole / 2, whole / 50}) {
    fs::resize_file(damaged, size);
    const std::string text = refusal();
    EXPECT_NE(text.find("cut short at " + std::to_string(size) + " bytes"), std::string::npos) << text;
  }
  fs::remove(damaged);
}

/// What ptxas said of each kernel: registers in local memory would be many times slower than the
/// rest.
TEST_F(CudaLibraryFile, NoKernelSpills) {
  std::map<std::string, std::set<std::string>> targets;  // by kernel
  int measured = 0;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".ptxas") continue;
    std::ifstream file(entry.path());
    const std::regex compiling("Compiling entry function '([^']+)' for '([^']+)'");
    std::string kernel;
    std::smatch match;
    for (std::string line; std::getline(file, line);) {
      if (std::regex_search(line, match, compiling)) {
        kernel = match[1];
        targets[kernel].insert(match[2]);
      }
      if (line.find("bytes stack frame") == std::string::npos) continue;
      ++measured;
      EXPECT_NE(line.find(" 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"), std::string::npos)
          << kernel << ": " << line;
    }
  }
  EXPECT_GE(targets.size(), 28U);
  const std::set<std::string> wanted{TRAINYARD_CUDA_FIRST_TARGET, "sm_80", "sm_90"};
  // Of Hopper's own instructions.
  const std::set<std::string> hopper{"sm_90a"};
  size_t expected = 0;
  for (const auto& [kernel, made] : targets) {
    const auto& its_own = kernel.find("pointwise_") == std::string::npos ? wanted : hopper;
    EXPECT_EQ(made, its_own) << kernel;
    expected += its_own.size();
  }
  EXPECT_EQ(measured, static_cast<int>(expected));
}

}  // namespace
}  // namespace trainyard
