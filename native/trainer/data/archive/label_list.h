// Labels that stand in a file of their own, as those of ImageNet's validation images do.
#pragma once
#include <string>
#include <vector>

namespace trainyard {

struct LabelList {
  struct Line {
    std::string image;  ///< empty where lines have no names
    std::string label;
  };
  std::string path;
  std::vector<Line> lines;
};

/// Lines of a label each (a synset, a number, a name without blanks), or of an image's name and its
/// label. Throws Error(Exit::data): it cannot be read, has more than 64 MiB, is empty, or a line is
/// empty or has more words.
LabelList read_label_list(const std::string& path);

/// Makes names of labels that are numbers. With `names_path`, a file of a name a line, label 1 is
/// its first line, or label 0 where there is one. Else numbers from 0 count `classes`, in their
/// order. Labels that are among `classes`, or where there are no classes, stay. Throws
/// Error(Exit::data): a number without a name; numbers from 1, which ImageNet's own tools count in
/// another order than that of the synsets.
void name_numbers(LabelList& list, const std::string& names_path, const std::vector<std::string>& classes);

/// The distinct labels: by number where all are numbers, else by their bytes.
std::vector<std::string> classes_of(const LabelList& list);

}  // namespace trainyard
