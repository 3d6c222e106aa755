#include <csetjmp>
#include <cstddef>
#include <cstdio>
// jpeglib.h needs FILE and size_t declared before it.
#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <array>

#include "trainer/data/jpeg.h"

namespace trainyard {

namespace {

constexpr int kMostScans = 500;  // a few hundred bytes of progressive scans can otherwise cost minutes

/// libjpeg's structures with the place to jump to on an error. `base` members come first: libjpeg hands back pointers
/// to them, which are cast to the whole.
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

/// level < 0 is a warning. After most of them libjpeg goes on with grey filler, which nobody should train on.
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

/// Adobe's programs store CMYK inverted, so that the product of two stored values is the product of two reflectances.
void cmyk_row_to_rgb(const uint8_t* row, int width, bool inverted, uint8_t* out) {
  for (int x = 0; x < width; ++x) {
    const int black = inverted ? row[4 * x + 3] : 255 - row[4 * x + 3];
    for (int channel = 0; channel < 3; ++channel) {
      const int ink = inverted ? row[4 * x + channel] : 255 - row[4 * x + channel];
      out[3 * x + channel] = static_cast<uint8_t>((ink * black + 127) / 255);
    }
  }
}

unsigned shrink(int64_t shorter, int wanted) {
  unsigned by = 8;
  while (by > 1 && (shorter + by - 1) / by < wanted) by /= 2;
  return by;
}

}  // namespace

struct JpegDecoder::State {
  jpeg_decompress_struct decompress{};
  ErrorManager errors{};
  jpeg_progress_mgr progress{};
  std::vector<uint8_t> cmyk;

  void read(std::string_view bytes, int shorter_side, Image& image);
  bool attempt(std::string_view bytes, int shorter_side, Image& image);
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

void JpegDecoder::State::read(std::string_view bytes, int shorter_side, Image& image) {
  jpeg_mem_src(&decompress, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&decompress, TRUE);
  const bool cmyk_file = decompress.jpeg_color_space == JCS_CMYK || decompress.jpeg_color_space == JCS_YCCK;
  decompress.out_color_space = cmyk_file ? JCS_CMYK : JCS_RGB;
  decompress.dct_method = JDCT_ISLOW;  // the same pixels with and without SIMD
  decompress.scale_num = 1;
  decompress.scale_denom = shrink(std::min(decompress.image_width, decompress.image_height), shorter_side);
  // A progressive file's coefficients are kept at full size, whatever it is shrunk to.
  if (int64_t{decompress.image_width} * decompress.image_height > kMostPixels) {
    refuse(&decompress, "%ld x %ld pixels are more than 100 million", decompress.image_width, decompress.image_height);
  }
  jpeg_start_decompress(&decompress);
  image.width = static_cast<int>(decompress.output_width);
  image.height = static_cast<int>(decompress.output_height);
  image.shrink = static_cast<int>(decompress.scale_denom);
  image.file_width = static_cast<int>(decompress.image_width);
  image.file_height = static_cast<int>(decompress.image_height);
  image.pixels.resize(size_t{decompress.output_width} * decompress.output_height * 3);
  if (cmyk_file) cmyk.resize(size_t{decompress.output_width} * 4);
  while (decompress.output_scanline < decompress.output_height) {
    uint8_t* out = image.pixels.data() + size_t{decompress.output_scanline} * decompress.output_width * 3;
    JSAMPROW row = cmyk_file ? cmyk.data() : out;
    jpeg_read_scanlines(&decompress, &row, 1);
    if (cmyk_file) cmyk_row_to_rgb(row, image.width, decompress.saw_Adobe_marker != 0, out);
  }
  jpeg_finish_decompress(&decompress);
}

/// False after an error, whose text is in `errors`. Nothing with a destructor may live in here or in `read`, as an
/// error jumps over both.
bool JpegDecoder::State::attempt(std::string_view bytes, int shorter_side, Image& image) {
  if (setjmp(errors.jump) != 0) return false;
  read(bytes, shorter_side, image);
  return true;
}

void JpegDecoder::decode(std::string_view bytes, int shorter_side, Image& image) {
  if (bytes.empty()) throw BadImage("the file is empty");
  if (!state_->attempt(bytes, shorter_side, image)) {
    jpeg_abort_decompress(&state_->decompress);
    throw BadImage(state_->errors.text.data());
  }
}

}  // namespace trainyard
