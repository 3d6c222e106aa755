// What a check makes of all-reduces: of all nodes at once, and of nodes two and two.
import * as z from 'zod/mini';
import { good, warned, type CheckResult } from '../base/checks.js';
import { check } from '../base/validation.js';
import { slowOf } from './slow.js';

/** A line of `trainer bench allreduce`. `pair`: of two ranks alone. */
const sumSchema = z.object({
  bytes: z.int(),
  world: z.int(),
  bus_gbs: z.number(),
  comm: z.string(),
  pair: z.optional(z.tuple([z.int(), z.int()])),
});
type Sum = z.infer<typeof sumSchema>;

/** The row of all nodes at once, which is also that of what failed. */
export const allReduceRow = 'all-reduce';
const pairsRow = 'all-reduce by pairs';

/** What the trainer printed; other text is left out. */
export function sumsOf(printed: readonly string[]): Sum[] {
  return printed.flatMap((text) =>
    text.split('\n').flatMap((line) => {
      try {
        const read = check(sumSchema, JSON.parse(line));
        return read.ok ? [read.data] : [];
      } catch {
        return []; // words of another program
      }
    }),
  );
}

/**
 * A row for all nodes, of the largest sum, and a row for each node, of the best of its pairs: a
 * node with a slow link is slow with everybody. `nodes`: by rank. Bandwidth is that of the bus, as
 * NVIDIA's nccl-tests define it: bytes x 2 (n - 1) / n / time. Empty where there are no sums.
 */
export function judgeSums(nodes: readonly string[], sums: readonly Sum[]): CheckResult[] {
  const whole = sums.filter(({ pair }) => pair === undefined).at(-1);
  if (!whole) return [];
  const told = `${gbText(whole.bus_gbs)} of bus bandwidth over ${whole.world} nodes by ${whole.comm.toUpperCase()}, ${(whole.bytes / 1e6).toFixed(1)} MB at once`;
  const best = nodes.map((_, rank) =>
    Math.max(0, ...sums.filter(({ pair }) => pair?.includes(rank)).map(({ bus_gbs }) => bus_gbs)),
  );
  const { usual, isSlow } = slowOf(best);
  return [
    good(allReduceRow, told),
    ...nodes.map((host, rank) => {
      const rate = best[rank] ?? 0;
      const own = `${gbText(rate)} with the node that it reaches best`;
      const judged = isSlow(rate)
        ? warned(pairsRow, `${own}: most have ${gbText(usual)}`, lookAtWay)
        : good(pairsRow, own);
      return { ...judged, host, amount: rate };
    }),
  ];
}

const lookAtWay =
  'Look at what the check says of its link and CPU: every sum of all nodes is as slow as the slowest of them';

const gbText = (rate: number): string => `${rate >= 0.1 ? rate.toFixed(2) : rate.toFixed(4)} GB/s`;
