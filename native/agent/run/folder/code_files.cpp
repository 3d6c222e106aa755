#include "agent/run/folder/code_files.h"

#include "agent/messages/json.h"
#include "common/files.h"

namespace trainyard {

CodeFiles::CodeFiles(const std::string& list) {
  const auto json = read_json_object(list);
  if (!json) return;
  for (const char* kind : {"files", "links"}) {
    const auto entries = json->find(kind);
    if (entries == json->end() || !entries->is_array()) continue;
    for (const Json& entry : *entries) {
      if (entry.is_array() && !entry.empty() && entry[0].is_string()) paths_.insert(entry[0].get<std::string>());
    }
  }
}

bool CodeFiles::contains(const std::string& path) const {
  if (paths_.contains(path)) return true;
  const size_t name = path.rfind('/');
  const std::string folder = name == std::string::npos ? "" : "/" + path.substr(0, name);
  return folder.ends_with("/__pycache__") && path.ends_with(".pyc");
}

}  // namespace trainyard
