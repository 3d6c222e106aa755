// How the kernels walk over a tensor, whatever its layout: in strips, which are the pixels of one
// image, or some of them, at 16, 8 or 1 neighbouring channels.
#pragma once
#include <algorithm>
#include <cstddef>
#include <limits>

#include "trainer/base/parallel.h"
#include "trainer/tensor/tensor_desc.h"

/// Into code compiled for other instructions too.
#define TRAINYARD_INLINE inline __attribute__((always_inline))

namespace trainyard::cpu {

struct Strip {
  size_t offset;  ///< of the first pixel's first channel
  size_t stride;  ///< elements from one pixel to the next
  size_t rows;    ///< pixels
  size_t image;
  size_t channel;     ///< the first one
  bool first = true;  ///< the first pixels of this image at these channels
};

namespace detail {

/// The channels of one unit (an image, or a block of its channels) at some of its pixels.
template <class Body>
void each_width(Strip strip, size_t block, const Body& body) {
  const size_t offset = strip.offset;
  const size_t channel = strip.channel;
  for (size_t done = 0; done < block;) {
    strip.offset = offset + done;
    strip.channel = channel + done;
    if (block - done >= 16) {
      body(strip, std::integral_constant<int, 16>());
      done += 16;
    } else if (block - done >= 8) {
      body(strip, std::integral_constant<int, 8>());
      done += 8;
    } else {
      body(strip, std::integral_constant<int, 1>());
      done += 1;
    }
  }
}

}  // namespace detail

/// Calls body(strip, std::integral_constant<int, width>) for every strip, over all threads; those
/// of one image and channel in order on one thread, so a result of theirs does not depend on the
/// number of threads. A strip holds all pixels, or at most `most` elements of all channels together
/// where many channels are neighbours: memory is then read as it lies.
template <class Body>
void for_each_strip(const TensorDesc& tensor, const Body& body, size_t most = 8192) {
  const auto pixels = static_cast<size_t>(tensor.shape.pixels());
  const auto block = static_cast<size_t>(tensor.block());
  const auto units = static_cast<size_t>(tensor.shape.n) * tensor.blocks();
  const size_t rows = block > 16 ? std::max<size_t>(8, most / block) : pixels;
  const size_t grain = 8192 / (pixels * block + 1) + 1;
  parallel_for(units, grain, [&](size_t begin, size_t end) {
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t image = unit / tensor.blocks();
      const size_t channel = unit % tensor.blocks() * block;
      for (size_t row = 0; row < pixels; row += rows) {
        const size_t some = std::min(rows, pixels - row);
        detail::each_width({(unit * pixels + row) * block, block, some, image, channel, row == 0}, block, body);
      }
    }
  });
}

/// For for_each_strip: all pixels of an image at once.
inline constexpr size_t kWhole = std::numeric_limits<size_t>::max();

/// Calls body(T()) with the type in which numbers of `dtype` are stored.
template <class Body>
auto with_storage(DType dtype, const Body& body) {
  return dtype == DType::f32 ? body(float()) : body(BFloat16());
}

/// BFloat16 on a processor that rounds to it in one instruction; numbers too small for a whole
/// mantissa become zero there.
struct MachineBFloat16 {
  uint16_t bits = 0;
};

/// `loop` compiled for what its numbers need: where they are MachineBFloat16, for AVX-512 with
/// AVX512-BF16, whatever the rest of the program is compiled for. It must be inlined always.
template <class T, auto loop>
struct Compiled;
template <class T, class... Args, void (*loop)(Args...)>
struct Compiled<T, loop> {
  static void run(Args... args) { loop(args...); }
};
template <class... Args, void (*loop)(Args...)>
struct Compiled<MachineBFloat16, loop> {
  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16"))) static void run(Args... args) {
    loop(args...);
  }
};

/// Vectors of `width` numbers, read and written at any address through packed structures: clang
/// forgets the alignment of a vector type as soon as a template's argument stands in between.
/// Whatever the storage, they are computed with in fp32.
template <int width>
struct Lanes {
  using Float = float __attribute__((vector_size(width * 4)));
  using Double = double __attribute__((vector_size(width * 8)));
  using Bits = uint32_t __attribute__((vector_size(width * 4)));
  using Half = uint16_t __attribute__((vector_size(width * 2)));
  struct __attribute__((packed, may_alias)) FloatAt {
    Float value;
  };
  struct __attribute__((packed, may_alias)) HalfAt {
    Half value;
  };
  struct __attribute__((packed, may_alias)) DoubleAt {
    Double value;
  };
  static_assert(alignof(FloatAt) == 1 && alignof(DoubleAt) == 1);
  // Never a vector as an argument or result: how one is passed depends on the instructions compiled
  // for.
  static TRAINYARD_INLINE const FloatAt& load(const float* p) { return *reinterpret_cast<const FloatAt*>(p); }
  static TRAINYARD_INLINE FloatAt load(const BFloat16* p) { return widen(p); }
  static TRAINYARD_INLINE FloatAt load(const MachineBFloat16* p) { return widen(p); }
  static TRAINYARD_INLINE void store(float* p, const Float& value) { reinterpret_cast<FloatAt*>(p)->value = value; }
  static TRAINYARD_INLINE void store(MachineBFloat16* p, const Float& value) {
    using Machine = __bf16 __attribute__((vector_size(width * 2)));
    reinterpret_cast<HalfAt*>(p)->value = __builtin_bit_cast(Half, __builtin_convertvector(value, Machine));
  }
  /// As BFloat16's constructor.
  static TRAINYARD_INLINE void store(BFloat16* p, const Float& value) {
    const auto wide = __builtin_bit_cast(Bits, value);
    const Bits rounded = wide + 0x7FFFU + ((wide >> 16) & 1U);
    const Bits kept = (wide & 0x7FFFFFFFU) <= 0x7F800000U ? rounded : wide | 0x400000U;
    reinterpret_cast<HalfAt*>(p)->value = __builtin_convertvector(kept >> 16, Half);
  }
  static TRAINYARD_INLINE DoubleAt& at(double* p) { return *reinterpret_cast<DoubleAt*>(p); }

 private:
  static TRAINYARD_INLINE FloatAt widen(const void* p) {
    const auto half = static_cast<const HalfAt*>(p)->value;
    return {__builtin_bit_cast(Float, __builtin_convertvector(half, Bits) << 16)};
  }
};

}  // namespace trainyard::cpu
