#include "trainer/checkpoint/safetensors.h"

#include <bit>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>

#include "common/error.h"

namespace trainyard {

namespace {

using nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "the format stores little-endian numbers");
static_assert(std::numeric_limits<float>::is_iec559 && sizeof(float) == 4);

template <typename Value>
std::string_view bytes_of(std::span<const Value> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

class HeaderWriter {
 public:
  HeaderWriter() { header_["__metadata__"] = {{"format", "pt"}}; }

  void add(const std::string& name, const char* dtype, const std::vector<int64_t>& shape, size_t bytes) {
    if (header_.contains(name)) throw Error(Exit::internal, "the tensor " + name + " is saved twice. This is a defect");
    header_[name] = {{"dtype", dtype}, {"shape", shape}, {"data_offsets", {end_, end_ + bytes}}};
    end_ += bytes;
  }

  // Padded with blanks, so that the data begin at a multiple of eight.
  std::string text() const {
    std::string header = header_.dump();
    header.append((8 - header.size() % 8) % 8, ' ');
    const uint64_t length = header.size();
    return std::string(bytes_of(std::span(&length, 1))) + header;
  }

 private:
  ordered_json header_;
  size_t end_ = 0;
};

}  // namespace

void write_safetensors(FileOutput& out, std::span<const CounterView> counters, std::span<const TensorView> tensors) {
  HeaderWriter header;
  for (const CounterView& counter : counters) header.add(counter.name, "I64", {}, sizeof counter.value);
  for (const TensorView& tensor : tensors) {
    const int64_t count =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t{1}, std::multiplies<int64_t>());
    if (count != static_cast<int64_t>(tensor.values.size()))
      throw Error(Exit::internal, "the tensor " + tensor.name + " has " + std::to_string(tensor.values.size()) +
                                      " values, not " + std::to_string(count) + ". This is a defect");
    header.add(tensor.name, "F32", tensor.shape, tensor.values.size_bytes());
  }
  out.append(header.text());
  for (const CounterView& counter : counters) out.append(bytes_of(std::span(&counter.value, 1)));
  for (const TensorView& tensor : tensors) out.append(bytes_of(tensor.values));
}

}  // namespace trainyard
