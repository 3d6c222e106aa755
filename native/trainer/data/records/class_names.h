// From the labels in records to classes: where their numbers begin, and what they are called.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "trainer/data/records/record_index.h"
#include "trainer/data/source.h"

namespace trainyard {

struct RecordClasses {
  std::vector<std::string> names;
  int64_t offset = 0;  ///< subtracted from a record's label to get its class
  std::string note;    ///< for people: labels between the others that no sound record has; else empty
};

/// Names come from labels.txt, else label.labels.txt, in `folder` ("7:rose" lines give the name of
/// the records' label 7, plain lines those of class 0, 1, …; with an offset a first line with the
/// word background stands for no class); else from the records' own image/class/text where every
/// class that has a sound record has a name of its own; else from the checkpoint that options name;
/// else they are the classes' numbers. A class without a sound record is called by its number, and
/// of training data `note` names it, unless labels.txt does.
/// Throws Error(Exit::data): the smallest label is 1 and neither --label-offset nor labels.txt says
/// what that means, a label is below the offset or has no class, labels.txt cannot be read.
RecordClasses name_classes(const std::string& folder, const std::map<int64_t, FirstOfClass>& labels,
                           const DatasetOptions& options);

}  // namespace trainyard
