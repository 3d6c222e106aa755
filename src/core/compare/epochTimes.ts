// How long an epoch takes: read from when a run crossed the whole epochs.

/**
 * The median time of the whole epochs that were made, the first one left out: it holds the start.
 * `epoch` rises and counts epochs with the part of the one under way; `time` is in seconds. Between
 * two rows the time is taken to pass evenly. Undefined with fewer than two whole epochs.
 */
export function secondsPerEpoch(epoch: readonly number[], time: readonly number[]): number | undefined {
  const durations: number[] = [];
  let crossed: { epoch: number; time: number } | undefined;
  for (let row = 1; row < epoch.length; row++) {
    const [e0 = 0, e1 = 0, t0 = 0, t1 = 0] = [epoch[row - 1], epoch[row], time[row - 1], time[row]];
    if (e1 <= e0) continue;
    for (let whole = Math.floor(e0 + almost) + 1; whole <= e1 + almost; whole++) {
      const at = t0 + (t1 - t0) * Math.min(1, (whole - e0) / (e1 - e0));
      // A merged row may cross several.
      if (crossed?.epoch === whole - 1) durations.push(at - crossed.time);
      crossed = { epoch: whole, time: at };
    }
  }
  return median(durations);
}

/** Epochs are written with few digits. */
const almost = 1e-6;

function median(values: readonly number[]): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  const [lower, upper] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return lower === undefined || upper === undefined ? undefined : (lower + upper) / 2;
}
