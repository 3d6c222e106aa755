#include "trainer/ops/cuda_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "common/error.h"
#include "trainer/ops/elf_file.h"

namespace trainyard {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibrary = "libtrainer_cuda.so";
constexpr const char* kAdvice = ". Use --device cpu, or see docs/architecture.md for how the CUDA library is built";

/// What libtrainer_cuda.so was built for: the names of NVIDIA's libraries, and of their wheels.
struct Release {
  const char* blas;
  const char* blas_core;  ///< which `blas` needs
  const char* nvrtc;      ///< with which cuDNN compiles kernels, where an engine of its wants that
  const char* nvjpeg;
  const char* titles;  ///< of what cannot be done without
  const char* blas_wheel;
  const char* dnn_wheel;
  const char* nvrtc_wheel;
  const char* nccl_wheel;
  const char* nvjpeg_wheel;
};

constexpr const char* kDnn = "libcudnn.so.9";
constexpr std::array<Release, 2> kReleases{{
    {"libcublas.so.13", "libcublasLt.so.13", "libnvrtc.so.13", "libnvjpeg.so.13", "cuBLAS 13 and cuDNN 9 for CUDA 13",
     "nvidia-cublas", "nvidia-cudnn-cu13", "nvidia-cuda-nvrtc", "nvidia-nccl-cu13", "nvidia-nvjpeg"},
    {"libcublas.so.12", "libcublasLt.so.12", "libnvrtc.so.12", "libnvjpeg.so.12", "cuBLAS 12 and cuDNN 9 for CUDA 12",
     "nvidia-cublas-cu12", "nvidia-cudnn-cu12", "nvidia-cuda-nvrtc-cu12", "nvidia-nccl-cu12", "nvidia-nvjpeg-cu12"},
}};

std::vector<fs::path> split(const char* list) {
  std::vector<fs::path> parts;
  std::istringstream stream(list == nullptr ? "" : list);
  for (std::string part; std::getline(stream, part, ':');) {
    if (!part.empty()) parts.emplace_back(part);
  }
  return parts;
}

fs::path own_folder() {
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string joined(const std::vector<fs::path>& paths) {
  std::string text;
  for (const fs::path& path : paths) text += (text.empty() ? "" : ", ") + path.string();
  return text;
}

fs::path find_library() {
  std::vector<fs::path> places;
  if (const char* given = std::getenv("TRAINYARD_CUDA_LIBRARY"); given != nullptr && *given != '\0') {
    places = {given};
  } else {
    places = {own_folder() / kLibrary, (own_folder() / ".." / "cuda" / kLibrary).lexically_normal()};
  }
  for (const fs::path& place : places) {
    if (fs::exists(place)) return place;
  }
  throw Error(Exit::device,
              std::string("there is no CUDA back end: ") + kLibrary + " was looked for at " + joined(places) + kAdvice);
}

/// By what the library names as needed; the newest where it names none of them.
const Release& release_of(const fs::path& library) {
  const std::vector<std::string> needed = elf_needs(library.string());
  for (const Release& release : kReleases) {
    if (std::ranges::find(needed, std::string(release.blas)) != needed.end()) return release;
  }
  return kReleases.front();
}

/// Where NVIDIA's wheels put their libraries below the node's runtime.
std::vector<fs::path> nvidia_folders() {
  std::vector<fs::path> folders = split(std::getenv("TRAINYARD_NVIDIA_LIBRARIES"));
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(own_folder() / ".." / "lib", error)) {
    if (!entry.path().filename().string().starts_with("python3")) continue;
    const fs::path nvidia = entry.path() / "site-packages" / "nvidia";
    for (const char* part : {"cu13", "cudnn", "nccl"}) folders.push_back((nvidia / part / "lib").lexically_normal());
  }
  return folders;
}

/// What dlopen last said, without the folder of every file it names.
std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown error" : text;
}

/// dlopen trusts what it maps: of a file that was cut short it reads what is not there, and the
/// process dies.
void require_whole(const fs::path& path) {
  const std::string damage = elf_damage(path.string());
  if (damage.empty()) return;
  throw Error(Exit::device, "the CUDA back end cannot be loaded: " + path.string() + " " + damage +
                                ". Copy or install it again" + kAdvice);
}

/// Loaded by its full path, so that libtrainer_cuda.so finds it by its name. Returns whether it is
/// in one of the folders.
bool load_from(const std::vector<fs::path>& folders, const char* name) {
  for (const fs::path& folder : folders) {
    if (!fs::exists(folder / name)) continue;
    require_whole(folder / name);
    // Never closed: CUDA's libraries start threads and cannot be unloaded.
    if (::dlopen((folder / name).c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr) return true;
    throw Error(Exit::device, "the CUDA back end cannot be used: " + last_error() + kAdvice);
  }
  return false;
}

/// What NVRTC opens by this name when it compiles; "" where it does not tell its version.
std::string nvrtc_builtins(void* nvrtc) {
  const auto version = reinterpret_cast<int (*)(int*, int*)>(::dlsym(nvrtc, "nvrtcVersion"));
  int major = 0;
  int minor = 0;
  if (version == nullptr || version(&major, &minor) != 0) return "";
  return "libnvrtc-builtins.so." + std::to_string(major) + "." + std::to_string(minor);
}

/// Where NVRTC is in one of the folders: loaded with its builtins, so that cuDNN and NVRTC find them
/// by their names.
void load_nvrtc_from(const std::vector<fs::path>& folders, const char* name) {
  const auto has_it = [name](const fs::path& folder) { return fs::exists(folder / name); };
  const auto folder = std::ranges::find_if(folders, has_it);
  if (folder == folders.end()) return;
  load_from({*folder}, name);
  const std::string builtins = nvrtc_builtins(::dlopen(name, RTLD_LAZY | RTLD_NOLOAD));
  if (!builtins.empty()) load_from({*folder}, builtins.c_str());
}

std::string text_of(const std::vector<fs::path>& folders) {
  return folders.empty() ? std::string("no folder") : joined(folders);
}

/// A library of NVIDIA's that not every run needs.
struct OptionalLibrary {
  const char* name;
  const char* need;     ///< who needs it
  const char* wheel;    ///< pip's
  const char* instead;  ///< what goes without
};

void load_optional(const OptionalLibrary& wanted) {
  const std::vector<fs::path> folders = nvidia_folders();
  if (load_from(folders, wanted.name) || ::dlopen(wanted.name, RTLD_LAZY | RTLD_GLOBAL) != nullptr) return;
  throw Error(Exit::device, std::string(wanted.need) + ", and there is none: " + wanted.name + " was looked for in " +
                                text_of(folders) + " and where the system has its own (" + last_error() +
                                "). Install it there (pip's " + wanted.wheel + "), name its folder in " +
                                "TRAINYARD_NVIDIA_LIBRARIES, or use " + wanted.instead);
}

/// What CUDA_VISIBLE_DEVICES does here, as a sentence.
std::string visible_text() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return "CUDA_VISIBLE_DEVICES is not set. ";
  if (*visible == '\0') return "CUDA_VISIBLE_DEVICES is empty, which hides every GPU. ";
  return std::string("CUDA_VISIBLE_DEVICES is '") + visible + "', and CUDA counts up to the first that is not there. ";
}

[[noreturn]] void fail(int exit_code, const char* message, bool worth_retrying) {
  throw Error(static_cast<Exit>(exit_code), message, worth_retrying ? Retry::worthwhile : Retry::pointless);
}

}  // namespace

std::unique_ptr<CudaLibrary> load_cuda_library() {
  const fs::path path = find_library();
  const std::vector<fs::path> folders = nvidia_folders();
  require_whole(path);
  // Those that are in none of the folders are left to the system; if it has none either, loading
  // the library says so.
  const Release& release = release_of(path);
  for (const char* name : {release.blas_core, release.blas, kDnn}) load_from(folders, name);
  load_nvrtc_from(folders, release.nvrtc);
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    throw Error(Exit::device, std::string("the CUDA back end ") + path.string() + " cannot be loaded: " + last_error() +
                                  ". NVIDIA's libraries were looked for in " + text_of(folders) +
                                  " and where the system has its own. Install " + release.titles + " there (pip's " +
                                  release.blas_wheel + " and " + release.dnn_wheel +
                                  "), name their folders in TRAINYARD_NVIDIA_LIBRARIES, or use --device cpu");
  }
  const auto entry = reinterpret_cast<CudaEntry>(::dlsym(library, kCudaEntryName));
  const char* error = "it has no entry for this trainer";
  std::unique_ptr<CudaLibrary> made(entry == nullptr ? nullptr : entry(TRAINYARD_CUDA_ABI, fail, &error));
  if (made) return made;
  throw Error(Exit::device,
              "the CUDA back end " + path.string() + " cannot be used: " + error + ". Build both together" + kAdvice);
}

std::string nvrtc_trouble() {
  const Release& release = release_of(find_library());
  const auto said = [&release](const std::string& name) {
    return name + " was looked for in " + text_of(nvidia_folders()) + " and where the system has its own (" +
           last_error() + "), so cuDNN goes without the engines that it compiles at run time. " +
           "Install it there (pip's " + release.nvrtc_wheel + "), or name its folder in TRAINYARD_NVIDIA_LIBRARIES";
  };
  void* nvrtc = ::dlopen(release.nvrtc, RTLD_LAZY | RTLD_LOCAL);
  const std::string builtins = nvrtc == nullptr ? "" : nvrtc_builtins(nvrtc);
  if (builtins.empty()) return said(release.nvrtc);
  return ::dlopen(builtins.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr ? said(builtins) : "";
}

std::string load_nccl(CudaLibrary& library) {
  load_optional({.name = "libnccl.so.2",
                 .need = "several GPUs sum their gradients by NCCL",
                 .wheel = release_of(find_library()).nccl_wheel,
                 .instead = "--comm mpi, which sums on the host"});
  return library.nccl_version();
}

std::string load_nvjpeg(CudaLibrary& library) {
  const Release& release = release_of(find_library());
  load_optional({.name = release.nvjpeg,
                 .need = "--jpeg-decoder nvjpeg decodes by nvJPEG",
                 .wheel = release.nvjpeg_wheel,
                 .instead = "--jpeg-decoder cpu"});
  return library.nvjpeg_version();
}

CudaDevice require_cuda_device(CudaLibrary& library, int index) {
  const std::vector<CudaDevice> devices = library.devices();
  if (devices.empty()) {
    throw Error(Exit::device,
                std::string("no CUDA device is visible to ") + kLibrary + " (" + library.versions() + "). " +
                    visible_text() +
                    "Check that nvidia-smi lists a GPU, set the variable to its number, or use --device cpu");
  }
  if (index >= static_cast<int>(devices.size())) {
    throw Error(Exit::device, "this rank wants CUDA device " + std::to_string(index) + ", but only " +
                                  std::to_string(devices.size()) + " can be seen. " + visible_text() +
                                  "Start no more ranks than there are GPUs");
  }
  const CudaDevice& device = devices[static_cast<size_t>(index)];
  if (device.usable) return device;
  throw Error(Exit::device, device.name + " has compute capability " + std::to_string(device.capability_major) + "." +
                                std::to_string(device.capability_minor) + ", for which " + kLibrary +
                                " holds no code (" + library.versions() +
                                "). Build it with TRAINYARD_CUDA_ARCHITECTURES, or use --device cpu");
}

int own_cuda_device(int local_rank) {
  const char* pinned = std::getenv("TRAINYARD_GPUS");
  return pinned == nullptr || *pinned == '\0' ? local_rank : 0;
}

std::unique_ptr<Backend> open_cuda_backend(int index, PlanChooser* plans) {
  const auto library = load_cuda_library();
  require_cuda_device(*library, index);
  if (const std::string trouble = nvrtc_trouble(); !trouble.empty()) {
    std::fprintf(stderr, "trainer: note: %s\n", trouble.c_str());
  }
  return library->open(index, plans);
}

}  // namespace trainyard
