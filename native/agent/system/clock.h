// Time that passes, whatever is done to the machine's clock.
#pragma once

namespace trainyard {

/// Sleeps that long, signals or not.
void sleep_ms(int milliseconds);

/// Seconds since some fixed moment; the same moment for every process since the machine's start.
double monotonic_seconds();

}  // namespace trainyard
