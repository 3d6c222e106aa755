// The CPU back end's ops, one maker a file.
#pragma once
#include "trainer/ops/contract/backend.h"

namespace trainyard::cpu {

Layout conv2d_input_layout(const Conv2dParams& params);
std::unique_ptr<Conv2dOp> make_conv2d(const Conv2dParams& params);
std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormParams& params);
std::unique_ptr<MaxPoolOp> make_max_pool(const MaxPoolParams& params);
std::unique_ptr<AvgPoolOp> make_avg_pool(const AvgPoolParams& params);
/// x in bf16.
std::unique_ptr<AvgPoolOp> make_avg_pool_bf16(const AvgPoolParams& params);
/// Where the windows go: in the input's layout and type. Throws Error(Exit::usage) where not even
/// one fits.
TensorDesc avg_pool_output(const AvgPoolParams& params);
std::unique_ptr<GlobalAvgPoolOp> make_global_avg_pool(const TensorDesc& input);
std::unique_ptr<LinearOp> make_linear(const LinearParams& params);
/// x in bf16.
std::unique_ptr<LinearOp> make_linear_bf16(const LinearParams& params);
std::unique_ptr<InputOp> make_input(const TensorDesc& output, const std::array<float, 3>& mean,
                                    const std::array<float, 3>& std);
std::unique_ptr<ShortcutOp> make_shortcut(const TensorDesc& input, int out_channels, int stride);
std::unique_ptr<AddOp> make_add(const TensorDesc& tensor);
std::unique_ptr<ConcatOp> make_concat(const std::vector<TensorDesc>& parts);
std::unique_ptr<DropoutOp> make_dropout(const DropoutParams& params);
std::unique_ptr<SoftmaxCrossEntropyOp> make_softmax_cross_entropy(int classes);

}  // namespace trainyard::cpu
