// tf.train.Example as image data sets have it (tensorflow/core/example/{example,feature}.proto): a
// map from names to lists of bytes, floats or whole numbers.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/data/boxes.h"
#include "trainer/data/records/byte_source.h"

namespace trainyard {

/// What a record says of its image.
struct ExampleFields {
  std::optional<Range> image;    ///< the encoded file, in the source
  std::optional<int64_t> label;  ///< as it stands there
  std::optional<Range> text;     ///< the class's name
};

/// Finds image (`image/encoded`, else `image`, else `image_raw`), label (`image/class/label`, else
/// `label`, else `class`) and text (`image/class/text`) in the message at `record`. Other features
/// and unknown fields are passed over, a list of another kind counts as none, and of a name that
/// stands there twice the last one counts, as protocol buffers want it. Looks at little more than
/// the names. Throws BadImage for anything but one sound Example with at most one image and label
/// of each name.
ExampleFields read_example(ByteSource& source, Range record);

/// The bounding boxes in `image/object/bbox/{xmin,ymin,xmax,ymax}`, lists of floats, as box_between
/// takes them; those without area are left out. None where the record has no such lists. Throws
/// BadImage for lists of different lengths or of more than kMostBoxesOfImage, and as read_example.
std::vector<Box> read_example_boxes(ByteSource& source, Range record);

/// The first names of features in the record, for a message: "height, image/encoded". Throws as
/// read_example.
std::string feature_names(ByteSource& source, Range record);

struct ExampleImage {
  std::string_view encoded;
  std::string_view format;  ///< JPEG or PNG
  int64_t label = 0;
  std::string_view text;
  std::string_view filename;
  int height = 0;
  int width = 0;
  std::span<const Box> boxes{};
};

/// The serialized Example, with the features that TensorFlow's own scripts write:
/// image/{encoded,format,filename, height,width,channels,colorspace} and image/class/{label,text};
/// of an image with boxes also image/object/bbox/{xmin,ymin,xmax,ymax} and, the image's label for
/// each box, image/object/bbox/label (build_imagenet_data.py of tensorflow/models,
/// research/inception).
std::string write_example(const ExampleImage& image);

}  // namespace trainyard
