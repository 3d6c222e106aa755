// Where `trainer prep` has bounding boxes from: --boxes.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "trainer/data/archive/archive_bytes.h"
#include "trainer/data/prepare/box_table.h"

namespace trainyard {

struct FoundBoxes {
  BoxTable table;             ///< finished
  int64_t without_area = 0;   ///< boxes that were left out
  int64_t no_annotation = 0;  ///< files that were left out
};

struct BoxReading {
  /// Called for archives.
  ArchiveProgress progress;
  /// Called for each file that is no annotation and is left out.
  std::function<void(const std::string& path, const std::string& message)> on_bad_file;
};

/// Reads `path`: a tar of annotations (box_xml.h), compressed with gzip or not, as
/// ILSVRC2012_bbox_train_v2.tar.gz is; a folder of them; or, whatever else it is, lines
/// NAME,XMIN,YMIN,XMAX,YMAX with numbers from 0 to 1, as process_bounding_boxes.py of
/// tensorflow/models (research/inception) writes them. An annotation has the boxes of the image
/// with its own file name; hidden files are left out. Memory is the table's, beside 32 MiB at most
/// for places in a gzip file, the paths of a folder's files, or 1 MiB of a list. Throws
/// Error(Exit::data): it cannot be read, a line that is none, more than 100 files that are no
/// annotations, no box at all; as open_archive_bytes, TarReader and BoxTable do.
FoundBoxes read_boxes(const std::string& path, const BoxReading& options);

}  // namespace trainyard
