// Which part of an image is looked at, and at which size: for whoever decodes it, on the host or on
// a device.
#pragma once

namespace trainyard {

/// A part of an image, in pixels.
struct Rect {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

/// One way of looking at an image: the part `from`, in pixels of its file, resized to `width` x
/// `height`, of which `window` is kept, mirrored left to right if `flip`.
struct View {
  Rect from;
  int width = 0;
  int height = 0;
  Rect window;
  bool flip = false;
};

}  // namespace trainyard
