#include <png.h>

#include <array>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "trainer/data/png.h"

namespace trainyard {

namespace {

constexpr std::string_view kSignature{"\x89PNG\r\n\x1a\n", 8};
constexpr png_alloc_size_t kMostOfAChunk = 1 << 20;  // what is not pixels is of no use here

/// One decoding. Nothing with a destructor may be made in `run`, as an error jumps over it.
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
    if (setjmp(jump_) != 0) return false;
    run();
    return true;
  }
  const char* text() const { return text_.data(); }

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp message) {
    auto* self = static_cast<Decoding*>(png_get_error_ptr(png));
    std::snprintf(self->text_.data(), self->text_.size(), "%s", message);
    std::longjmp(self->jump_, 1);
  }
  static void ignore(png_structp, png_const_charp) {}

  static void read(png_structp png, png_bytep out, size_t count) {
    auto* self = static_cast<Decoding*>(png_get_io_ptr(png));
    if (count > self->file_.size()) png_error(png, "Premature end of PNG file");
    std::memcpy(out, self->file_.data(), count);
    self->file_.remove_prefix(count);
  }

  void run() {
    png_set_read_fn(png_, this, read);
    png_set_chunk_malloc_max(png_, kMostOfAChunk);
    png_read_info(png_, info_);
    const auto width = int64_t{png_get_image_width(png_, info_)};
    const auto height = int64_t{png_get_image_height(png_, info_)};
    if (width * height > kMostPixels) png_error(png_, "more than 100 million pixels");
    png_set_palette_to_rgb(png_);  // of an image with a palette only
    png_set_gray_to_rgb(png_);
    if (png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY) png_set_expand_gray_1_2_4_to_8(png_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const auto row = static_cast<size_t>(width) * 3;
    if (png_get_rowbytes(png_, info_) != row) png_error(png_, "its pixels do not become RGB");
    image_.width = static_cast<int>(width);
    image_.height = static_cast<int>(height);
    image_.left = image_.top = image_.whole_width = image_.whole_height = 0;
    image_.shrink = 1;
    image_.file_width = image_.width;
    image_.file_height = image_.height;
    image_.pixels.resize(row * static_cast<size_t>(height));
    for (int pass = 0; pass < passes; ++pass) {
      for (size_t y = 0; y < static_cast<size_t>(height); ++y) {
        png_read_row(png_, image_.pixels.data() + y * row, nullptr);
      }
    }
    png_read_end(png_, nullptr);
  }

  std::string_view file_;
  Image& image_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  std::jmp_buf jump_;
  std::array<char, 160> text_{};
};

}  // namespace

bool is_png(std::string_view file) { return file.starts_with(kSignature); }

void decode_png(std::string_view file, Image& image) {
  Decoding decoding(file, image);
  if (!decoding.attempt()) throw BadImage(decoding.text());
}

}  // namespace trainyard
