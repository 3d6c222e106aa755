#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <new>

#include "trainer/data/images/png.h"

namespace trainyard {

namespace {

constexpr std::string_view kSignature{"\x89PNG\r\n\x1a\n", 8};
constexpr png_alloc_size_t kMostOfAChunk = 1 << 20;  // what is not pixels is of no use here

/// One decoding, by libpng's push reader: its other one unpacks whatever stands behind the last
/// row, which may be a thousand times the file. Nothing with a destructor may be alive where an
/// error is raised, as it jumps.
class Decoding {
 public:
  Decoding(std::string_view file, Image& image) : file_(file), image_(image) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, ignore);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
  }
  ~Decoding() { png_destroy_read_struct(&png_, &info_, nullptr); }
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  /// False after an error, whose text is text().
  bool attempt() {
    if (info_ == nullptr) throw std::bad_alloc();
    if (setjmp(jump_) != 0) {
      if (no_memory_) throw std::bad_alloc();
      return false;
    }
    run();
    return true;
  }
  const char* text() const { return text_.data(); }

 private:
  static Decoding& of(png_structp png) { return *static_cast<Decoding*>(png_get_progressive_ptr(png)); }
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto* self = static_cast<Decoding*>(png_get_error_ptr(png));
    std::snprintf(self->text_.data(), self->text_.size(), "%s", message);
    std::longjmp(self->jump_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
  static void on_header(png_structp png, png_infop) { of(png).begin(); }
  static void on_row(png_structp png, png_bytep row, png_uint_32 number, int pass) { of(png).take(row, number, pass); }
  static void on_end(png_structp png, png_infop) { of(png).ended_ = true; }

  void run() {
    png_set_progressive_read_fn(png_, this, on_header, on_row, on_end);
    png_set_chunk_malloc_max(png_, kMostOfAChunk);
    // libpng only reads it.
    png_process_data(png_, info_, reinterpret_cast<png_bytep>(const_cast<char*>(file_.data())), file_.size());
    if (!ended_) png_error(png_, "Premature end of PNG file");
    if (!filled_) png_error(png_, "the pixels are damaged: some rows are missing");
  }

  void begin() {
    const auto width = int64_t{png_get_image_width(png_, info_)};
    const auto height = int64_t{png_get_image_height(png_, info_)};
    if (width * height > kMostPixels) png_error(png_, "more than 100 million pixels");
    png_set_palette_to_rgb(png_);  // of an image with a palette only
    png_set_gray_to_rgb(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != static_cast<size_t>(width) * 3) {
      png_error(png_, "its pixels do not become RGB");
    }
    image_.width = static_cast<int>(width);
    image_.height = static_cast<int>(height);
    image_.left = image_.top = image_.whole_width = image_.whole_height = 0;
    image_.shrink = 1;
    image_.file_width = image_.width;
    image_.file_height = image_.height;
    if (!take_memory(static_cast<size_t>(width) * static_cast<size_t>(height) * 3)) png_error(png_, "out of memory");
  }

  /// No exception may pass through libpng.
  bool take_memory(size_t bytes) {
    try {
      image_.pixels.resize(bytes);
    } catch (const std::bad_alloc&) {
      no_memory_ = true;
    }
    return !no_memory_;
  }

  /// row: none where this pass of an interlaced image does not touch it.
  void take(png_bytep row, png_uint_32 number, int pass) {
    const size_t pitch = static_cast<size_t>(image_.width) * 3;
    if (row != nullptr && static_cast<int>(number) < image_.height)
      png_progressive_combine_row(png_, image_.pixels.data() + number * pitch, row);
    filled_ = filled_ || (pass + 1 == passes_ && static_cast<int>(number) + 1 == image_.height);
  }

  std::string_view file_;
  Image& image_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  std::array<char, 160> text_{};
  int passes_ = 1;
  bool filled_ = false;  ///< the last row was there
  bool ended_ = false;   ///< the last chunk was there
  bool no_memory_ = false;
};

}  // namespace

bool is_png(std::string_view file) { return file.starts_with(kSignature); }

void decode_png(std::string_view file, Image& image) {
  Decoding decoding(file, image);
  if (!decoding.attempt()) throw BadImage(decoding.text());
}

}  // namespace trainyard
