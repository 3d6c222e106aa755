#include "trainer/data/prepare/local_sources.h"

#include <filesystem>
#include <system_error>

#include "common/error.h"
#include "trainer/data/fetch/download.h"

namespace trainyard {

LocalSources::LocalSources(const PrepOptions& options) : options_(options), folder_(options.download_dir) {
  if (folder_.empty()) {
    folder_ = options.to;
    while (folder_.size() > 1 && folder_.ends_with('/')) folder_.pop_back();
    folder_ += ".download";
  }
  // The small ones first, so that a slip in them shows before the long wait.
  options_.labels = local(options.labels, "", "labels");
  options_.label_names = local(options.label_names, "", "label-names");
  options_.boxes = local(options.boxes, "", "boxes");
  options_.from = local(options.from, options.sha256, "from");
  options_.validation_from = local(options.validation_from, "", "validation-from");
}

std::string LocalSources::local(const std::string& text, const std::string& sha256, const std::string& role) {
  if (text.empty()) return text;
  NamedSource source = read_source(text);
  if (!sha256.empty()) source.sha256 = read_source("#sha256=" + sha256).sha256;
  if (!is_address(source.place)) {
    if (!source.sha256.empty()) check_sum(source.place, source.sha256);
    return source.place;
  }
  DownloadOptions wanted;
  const auto [named, first] = names_.emplace(download_name(source.place), source.place);
  const bool taken = !first && named->second != source.place;
  wanted.folder = taken ? folder_ + "/" + role : folder_;
  wanted.s3_endpoint = options_.s3_endpoint;
  wanted.retry_seconds = options_.retry_seconds;
  wanted.progress = options_.stage;
  wanted.note = options_.note;
  downloaded_ = true;
  return download(source, wanted);
}

void LocalSources::done_with() const {
  if (!downloaded_ || !options_.download_dir.empty()) return;
  std::error_code error;
  std::filesystem::remove_all(folder_, error);
  if (error && options_.note) options_.note(folder_ + " could not be removed: " + error.message());
}

}  // namespace trainyard
