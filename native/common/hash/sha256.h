// SHA-256 (FIPS 180-4), for the manifests of checkpoints.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// How the blocks are computed. All kinds give the same digest; the processor decides which of them
/// it has.
enum class Sha256Kind { portable, bmi2, sha_extensions };

bool sha256_has(Sha256Kind kind);

/// The fastest kind that this processor has.
Sha256Kind sha256_best();

/// Hashes what update() is given, in order and in pieces of any size.
class Sha256 {
 public:
  explicit Sha256(Sha256Kind kind = sha256_best()) : kind_(kind) {}
  void update(std::string_view bytes);
  /// The digest as 64 lower-case hexadecimal digits. The hash takes no more bytes after it.
  std::string finish_hex();

 private:
  void take_blocks(const char* at, size_t blocks);

  Sha256Kind kind_;
  std::array<uint32_t, 8> state_{0x6a09e667U, 0xbb67ae85U, 0x3c6ef372U, 0xa54ff53aU,
                                 0x510e527fU, 0x9b05688cU, 0x1f83d9abU, 0x5be0cd19U};
  std::array<char, 64> pending_{};  ///< the begun block
  uint64_t total_ = 0;              ///< bytes so far
};

std::string sha256_hex(std::string_view bytes);

}  // namespace trainyard
