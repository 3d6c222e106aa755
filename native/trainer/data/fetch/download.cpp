#include "trainer/data/fetch/download.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/files.h"
#include "common/hash/sha256.h"
#include "trainer/data/fetch/fetch_program.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kHexDigits = 64;

void make_folder(const std::string& folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  // An address may be a secret, and stands beside what is begun.
  if (made && !error) fs::permissions(folder, fs::perms::owner_all, error);
  if (error) {
    throw Error(Exit::data, "cannot make " + folder + ": " + error.message() +
                                ". Check the path and its permissions, or name another folder with --download-dir");
  }
}

/// What the downloader says, made calls and at the end an error of.
class Listener {
 public:
  Listener(const DownloadOptions& options, std::string what) : options_(options), what_(std::move(what)) {}

  void take(const std::string& line) {
    const json said = json::parse(line, nullptr, false);
    if (!said.is_object()) return;
    const std::string kind = said.value("kind", "");
    if (kind == "progress" && options_.progress) {
      const json& total = said["total"];
      options_.progress(what_, said.value("done", int64_t{0}), total.is_number() ? total.get<int64_t>() : -1);
    }
    if (kind == "note" && options_.note) options_.note(said.value("text", ""));
    if (kind == "error") error_ = Error(Exit{said.value("code", 3)}, said.value("message", ""));
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  const DownloadOptions& options_;
  std::string what_;
  std::optional<Error> error_;
};

}  // namespace

NamedSource read_source(const std::string& text) {
  constexpr std::string_view kMark = "#sha256=";
  const size_t mark = text.rfind(kMark);
  if (mark == std::string::npos) return {text, ""};
  std::string sum = text.substr(mark + kMark.size());
  for (char& c : sum) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool hex =
      std::all_of(sum.begin(), sum.end(), [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
  if (!hex || sum.size() != kHexDigits) {
    throw Error(Exit::usage, "what follows #sha256= in " + text.substr(0, mark) +
                                 "#… is no SHA-256. Give its 64 hexadecimal digits, as sha256sum prints them");
  }
  return {text.substr(0, mark), sum};
}

std::string download_name(const std::string& address) {
  std::string path = address.substr(0, address.find_first_of("?#"));
  while (path.ends_with('/')) path.pop_back();
  std::string name = path.substr(path.rfind('/') + 1);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && std::string_view("._-").find(c) == std::string_view::npos) {
      c = '_';
    }
  }
  while (name.starts_with('.')) name.erase(0, 1);
  return name.empty() ? "archive" : name;
}

bool is_address(const std::string& place) {
  return place.starts_with("http://") || place.starts_with("https://") || place.starts_with("s3://");
}

std::string download(const NamedSource& source, const DownloadOptions& options) {
  make_folder(options.folder);
  const std::string to = fs::absolute(fs::path(options.folder) / download_name(source.place)).string();
  const json order{{"url", source.place},
                   {"to", to},
                   {"sha256", source.sha256},
                   {"endpoint", options.s3_endpoint},
                   {"budget", options.retry_seconds}};
  Listener listener(options, "downloading " + download_name(source.place));
  const int code = run_fetch_program("download.py", order.dump(), download_name(source.place),
                                     [&](const std::string& line) { listener.take(line); });
  if (listener.error()) throw *listener.error();
  if (code == 0) return to;
  throw Error(Exit::data, "the download of " + download_name(source.place) + " ended with code " +
                              std::to_string(code) + ". Run the same once more to go on");
}

void check_sum(const std::string& path, const std::string& sha256) {
  const Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw file_error("open", path);
  Sha256 sum;
  std::vector<char> piece(1 << 20);
  uint64_t offset = 0;
  while (const size_t got = read_at(fd.get(), offset, piece.data(), piece.size(), path)) {
    sum.update({piece.data(), got});
    offset += got;
  }
  const std::string found = sum.finish_hex();
  if (found == sha256) return;
  throw Error(Exit::data,
              path + " has SHA-256 " + found + " and not " + sha256 + ". Check the sum, or copy the file again");
}

}  // namespace trainyard
