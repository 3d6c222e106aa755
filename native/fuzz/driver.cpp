// libFuzzer's entries. With TRAINYARD_FUZZ_SEEDS=FOLDER the program writes its seeds there and
// ends.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "fuzz/target.h"

namespace trainyard::fuzz {

void require(bool holds, const char* promise) {
  if (holds) return;
  std::fprintf(stderr, "broken promise: %s\n", promise);
  std::abort();
}

Descriptor memory_file(std::string_view bytes) {
  Descriptor fd(::memfd_create("fuzz", MFD_CLOEXEC));
  require(fd.get() >= 0, "memory for a file");
  require(::write(fd.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "a file in memory");
  require(::lseek(fd.get(), 0, SEEK_SET) == 0, "a file in memory");
  return fd;
}

}  // namespace trainyard::fuzz

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* folder = std::getenv("TRAINYARD_FUZZ_SEEDS");
  if (folder == nullptr) return 0;
  int number = 0;
  for (const std::string& seed : trainyard::fuzz::seeds()) {
    std::ofstream file(std::string(folder) + "/seed-" + std::to_string(number++), std::ios::binary);
    file << seed;
    trainyard::fuzz::require(static_cast<bool>(file.flush()), "seeds can be written");
  }
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  trainyard::fuzz::run({reinterpret_cast<const char*>(data), size});
  return 0;
}
