// Annotations of bounding boxes, as they come in an archive that somebody else made.
#include "fuzz/target.h"
#include "trainer/data/prepare/box_xml.h"

namespace trainyard::fuzz {

std::vector<std::string> seeds() {
  const std::string size = "<size><width>500</width><height>375</height><depth>3</depth></size>";
  const std::string box = "<bndbox><xmin>13</xmin><ymin>22</ymin><xmax>485.5</xmax><ymax>298</ymax></bndbox>";
  return {"<annotation><filename>%s</filename>" + size + "<object><name>n01440764</name>" + box +
              "</object></annotation>\n",
          "<?xml version=\"1.0\"?><!DOCTYPE annotation><annotation verified='yes'><!-- two -->" + size + "<object>" +
              box + "</object><object><part>" + box + "</part>" + box + "</object><owner/></annotation>",
          "<annotation></annotation>"};
}

void run(std::string_view input) {
  try {
    const Annotation found = read_annotation(input);
    require(found.boxes.size() * 4 < input.size(), "boxes are bounded by the file");
    for (const Box& box : found.boxes) {
      require(box.xmin >= 0 && box.xmin < box.xmax && box.xmax <= 1, "a box lies in its image's width");
      require(box.ymin >= 0 && box.ymin < box.ymax && box.ymax <= 1, "a box lies in its image's height");
    }
  } catch (const BadAnnotation&) {
    return;
  }
}

}  // namespace trainyard::fuzz
