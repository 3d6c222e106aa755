// Marks that would lie on one another, as one.
import type { Mark, MarkKind } from '../../protocol.js';

export interface MarkCluster {
  /** 0 to 1 along the strip. */
  position: number;
  kind: MarkKind;
  marks: Mark[];
}

/** What must not be hidden behind a checkpoint comes first. */
const weights: Record<MarkKind, number> = {
  'rank-lost': 8,
  hang: 7,
  'checkpoint-failed': 6,
  disk: 5,
  restart: 4,
  end: 3,
  stop: 2,
  start: 1,
  resume: 4, // beside the end before it, as the pause between them is left out
  checkpoint: 0,
};

/**
 * Marks in [low, high], those closer than `gap` (a part of the whole) together. `runTime` is where a
 * mark of a time stands, in the unit of `low` and `high`.
 */
export function clusterMarks(
  marks: readonly Mark[],
  runTime: (time: number) => number,
  [low, high]: readonly [number, number],
  gap: number,
): MarkCluster[] {
  const span = high - low;
  if (!(span > 0)) return [];
  const clusters: MarkCluster[] = [];
  for (const mark of [...marks].sort((a, b) => a.time - b.time)) {
    const at = runTime(mark.time);
    if (at < low || at > high) continue;
    const position = (at - low) / span;
    const last = clusters.at(-1);
    if (last && position - last.position < gap) {
      last.marks.push(mark);
      if (weights[mark.kind] > weights[last.kind]) last.kind = mark.kind;
    } else {
      clusters.push({ position, kind: mark.kind, marks: [mark] });
    }
  }
  return clusters;
}
