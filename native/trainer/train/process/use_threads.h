// How many threads a verb computes with, said where it is not what was asked for.
#pragma once

namespace trainyard {

/// set_threads (base/parallel.h); what it has to say becomes a warning on stderr.
void use_threads(int threads);

}  // namespace trainyard
