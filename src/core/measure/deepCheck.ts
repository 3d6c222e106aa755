// The all-reduce of a deep check: an ordinary run of the trainer's own measurement, with one rank
// on each node, which is deleted once it is over.
import { bad, warned, type CheckResult } from '../base/checks.js';
import { errorText, isCancelled, UserError } from '../base/errors.js';
import type { Progress } from '../base/progress.js';
import { allReduceRow, judgeSums, sumsOf } from '../check/sums.js';
import type { Machine } from '../cluster/nodes/machine.js';
import type { Profile } from '../contracts/profileSchema.js';
import { shortRun } from './shortRun.js';

/** Bytes of the largest sum: as many gradients as a training sends off together. */
const largest = 4 * 2 ** 20;
const seconds = 0.1;

/**
 * Rows of the all-reduce over all nodes, and over pairs of them; one row that says so where `results`
 * have a bad one, since no run takes all nodes then. Empty of a single node. Cancelled.
 */
export async function checkAllReduce(
  machine: Machine,
  profile: Profile,
  results: readonly CheckResult[],
  { onProgress, signal }: Progress = {},
): Promise<CheckResult[]> {
  if (profile.kind !== 'ssh' || machine.nodes.length < 2) return [];
  if (results.some(({ ok }) => !ok)) {
    return [warned(allReduceRow, 'not measured, since a check failed', 'Mend that first')];
  }
  onProgress?.('measuring the all-reduce between the nodes');
  const place = {
    machine,
    profile: { ...profile, minNodes: undefined, maxNodes: undefined, maxRestarts: 0, stage: undefined },
    cwd: '/',
    keepRuns: false,
    onRun: () => Promise.resolve(),
    ...(signal === undefined ? {} : { signal }),
  };
  const size = ['--bytes', String(largest), '--seconds', String(seconds)];
  try {
    const { details, printed } = await shortRun(place, {
      words: ['bench', 'allreduce', '--pairs', ...size],
      name: 'deep check',
      tag: 'check',
    });
    return judgeSums(
      (details.run?.nodes ?? []).map(({ host }) => host),
      sumsOf(printed),
    );
  } catch (error) {
    if (isCancelled(error)) throw error;
    const hint = error instanceof UserError ? error.hint : ({ kind: 'report', tryFirst: true } as const);
    return [bad(allReduceRow, error instanceof UserError ? error.what : errorText(error), hint)];
  }
}
