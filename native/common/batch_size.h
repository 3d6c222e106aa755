// What trainer and agent both know of the size of a batch.
#pragma once

namespace trainyard {

/// Images of a micro-batch of one replica, where --batch-size does not say.
inline constexpr int kUsualBatchSize = 32;

}  // namespace trainyard
