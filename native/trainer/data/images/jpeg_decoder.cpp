#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs FILE and size_t declared before it.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>

#include "trainer/data/images/jpeg.h"

namespace trainyard {

namespace {

constexpr int kMargin = 4;       // pixels; chroma at half the size looks at one of its own pixels beyond
constexpr int kMostScans = 500;  // a few hundred bytes of progressive scans can otherwise cost minutes

/// libjpeg's structures with the place to jump to on an error. `base` members come first: libjpeg
/// hands back pointers to them, which are cast to the whole.
struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  std::array<char, JMSG_LENGTH_MAX> text;
};

[[noreturn]] void fail(j_common_ptr common) {
  auto* errors = reinterpret_cast<ErrorManager*>(common->err);
  common->err->format_message(common, errors->text.data());
  std::longjmp(errors->jump, 1);
}

bool harmless(int code) {
  return code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM ||
         code == JWRN_TOO_MUCH_DATA;
}

/// level < 0 is a warning. After most of them libjpeg goes on with grey filler, which nobody should
/// train on.
void on_message(j_common_ptr common, int level) {
  if (level < 0 && !harmless(common->err->msg_code)) fail(common);
}

void no_output(j_common_ptr) {}

[[noreturn]] void refuse(j_decompress_ptr decompress, const char* format, long a, long b) {
  auto* errors = reinterpret_cast<ErrorManager*>(decompress->err);
  std::snprintf(errors->text.data(), errors->text.size(), format, a, b);
  std::longjmp(errors->jump, 1);
}

void on_progress(j_common_ptr common) {
  auto* decompress = reinterpret_cast<j_decompress_ptr>(common);
  if (decompress->input_scan_number > kMostScans) {
    refuse(decompress, "more than %ld progressive scans", kMostScans, 0);
  }
}

/// Adobe's programs store CMYK inverted, so that the product of two stored values is the product of
/// two reflectances.
void cmyk_row_to_rgb(const uint8_t* row, int width, bool inverted, uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    const int black = inverted ? row[4 * x + 3] : 255 - row[4 * x + 3];
    for (int channel = 0; channel < 3; ++channel) {
      const int ink = inverted ? row[4 * x + channel] : 255 - row[4 * x + channel];
      out[3 * x + channel] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

/// Whether the end-of-image marker stands where a whole file has it (within compressed data 0xFF is
/// never followed by it).
bool ends_as_it_should(std::string_view bytes) { return bytes.size() > 4 && bytes.ends_with("\xFF\xD9"); }

}  // namespace

int jpeg_shrink(int width, int height, int shorter_side) {
  const int shorter = std::min(width, height);
  int by = 8;
  while (by > 1 && (shorter - 1) / by + 1 < shorter_side) by /= 2;
  return by;
}

struct JpegDecoder::State {
  jpeg_decompress_struct decompress{};
  ErrorManager errors{};
  jpeg_progress_mgr progress{};
  std::vector<uint8_t> cmyk;  // or a row that nobody wants

  void read_header(std::string_view bytes);
  void read_pixels(int shorter_side, const Rect* part, bool whole_file, Image& image);
  void narrow(const Rect& part, Image& image);
  bool attempt_header(std::string_view bytes);
  bool attempt_pixels(int shorter_side, const Rect* part, bool whole_file, Image& image);
};

JpegDecoder::JpegDecoder() : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.decompress.err = jpeg_std_error(&state.errors.base);
  state.errors.base.error_exit = fail;
  state.errors.base.emit_message = on_message;
  state.errors.base.output_message = no_output;
  if (setjmp(state.errors.jump) != 0) throw std::bad_alloc();  // creating can fail for want of memory only
  jpeg_create_decompress(&state.decompress);
  state.progress.progress_monitor = on_progress;
  state.decompress.progress = &state.progress;
}

JpegDecoder::~JpegDecoder() { jpeg_destroy_decompress(&state_->decompress); }

void JpegDecoder::State::read_header(std::string_view bytes) {
  jpeg_mem_src(&decompress, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decompress, TRUE);
  // A progressive file's coefficients are kept at full size, whatever it is shrunk to.
  if (int64_t{decompress.image_width} * decompress.image_height > kMostPixels) {
    refuse(&decompress, "%ld x %ld pixels are more than 100 million", decompress.image_width, decompress.image_height);
  }
}

/// Goes to the part's first row, and leaves out the columns beside it. A little more on every side
/// keeps the pixels those of the whole: chroma is interpolated from its neighbours.
void JpegDecoder::State::narrow(const Rect& part, Image& image) {
  const int by = image.shrink;
  JDIMENSION left = static_cast<JDIMENSION>(std::max(0, part.x / by - kMargin));
  const JDIMENSION right =
      std::min(decompress.output_width, static_cast<JDIMENSION>((part.x + part.width + by - 1) / by + kMargin));
  JDIMENSION columns = right - left;
  if (columns < decompress.output_width) {
    jpeg_crop_scanline(&decompress, &left, &columns);
    image.left = static_cast<int>(left);
    image.width = static_cast<int>(columns);
  }
  image.top = std::max(0, part.y / by - kMargin);
  const int bottom = std::min(image.whole_height, (part.y + part.height + by - 1) / by + kMargin);
  image.height = bottom - image.top;
  if (image.top > 0) jpeg_skip_scanlines(&decompress, static_cast<JDIMENSION>(image.top));
}

void JpegDecoder::State::read_pixels(int shorter_side, const Rect* part, bool whole_file, Image& image) {
  const bool cmyk_file = decompress.jpeg_color_space == JCS_CMYK || decompress.jpeg_color_space == JCS_YCCK;
  decompress.out_color_space = cmyk_file ? JCS_CMYK : JCS_RGB;
  decompress.dct_method = JDCT_ISLOW;  // the same pixels with and without SIMD
  // It guesses what a progressive file without its last scans leaves open from blocks that a part
  // may lack.
  decompress.do_block_smoothing = FALSE;
  decompress.scale_num = 1;
  decompress.scale_denom = static_cast<unsigned>(
      jpeg_shrink(static_cast<int>(decompress.image_width), static_cast<int>(decompress.image_height), shorter_side));
  jpeg_start_decompress(&decompress);
  image.left = image.top = 0;
  image.width = image.whole_width = static_cast<int>(decompress.output_width);
  image.height = image.whole_height = static_cast<int>(decompress.output_height);
  image.shrink = static_cast<int>(decompress.scale_denom);
  image.file_width = static_cast<int>(decompress.image_width);
  image.file_height = static_cast<int>(decompress.image_height);
  if (part != nullptr && !cmyk_file) narrow(*part, image);
  const size_t pitch = static_cast<size_t>(image.width) * 3;
  image.pixels.resize(pitch * static_cast<size_t>(image.height));
  if (cmyk_file) cmyk.resize(static_cast<size_t>(image.width) * 4);
  for (int y = 0; y < image.height; ++y) {
    uint8_t* out = image.pixels.data() + static_cast<size_t>(y) * pitch;
    JSAMPROW row = cmyk_file ? cmyk.data() : out;
    jpeg_read_scanlines(&decompress, &row, 1);
    if (cmyk_file) cmyk_row_to_rgb(row, image.width, decompress.saw_Adobe_marker != 0, out);
  }
  if (image.top + image.height == image.whole_height) {
    jpeg_finish_decompress(&decompress);
  } else if (whole_file) {
    jpeg_abort_decompress(&decompress);
  } else {
    // Cut short or with something behind it: the rest of the rows tells.
    cmyk.resize(pitch);
    JSAMPROW row = cmyk.data();
    while (decompress.output_scanline < decompress.output_height) jpeg_read_scanlines(&decompress, &row, 1);
    jpeg_finish_decompress(&decompress);
  }
}

/// False after an error, whose text is in `errors`. Nothing with a destructor may live in here or
/// in what it calls, as an error jumps over them.
bool JpegDecoder::State::attempt_header(std::string_view bytes) {
  if (setjmp(errors.jump) != 0) return false;
  read_header(bytes);
  return true;
}

bool JpegDecoder::State::attempt_pixels(int shorter_side, const Rect* part, bool whole_file, Image& image) {
  if (setjmp(errors.jump) != 0) return false;
  read_pixels(shorter_side, part, whole_file, image);
  return true;
}

void JpegDecoder::decode(std::string_view bytes, int shorter_side, const Part& part, Image& image) {
  if (bytes.empty()) throw BadImage("the file is empty");
  const auto fail_with_text = [this] {
    jpeg_abort_decompress(&state_->decompress);
    throw BadImage(state_->errors.text.data());
  };
  if (!state_->attempt_header(bytes)) fail_with_text();
  const jpeg_decompress_struct& header = state_->decompress;
  Rect wanted;
  if (part) wanted = part(static_cast<int>(header.image_width), static_cast<int>(header.image_height));
  if (!state_->attempt_pixels(shorter_side, part ? &wanted : nullptr, ends_as_it_should(bytes), image)) {
    fail_with_text();
  }
}

}  // namespace trainyard
