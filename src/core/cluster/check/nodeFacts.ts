// What each node is made of, asked on the channels of a check.
import * as z from 'zod/mini';
import { bad, type CheckResult } from '../../base/checks.js';
import { errorText, isCancelled } from '../../base/errors.js';
import { judgeClocks, readingOf, type ClockReading } from '../../check/clocks.js';
import { compareMtus, factsSchema, judgeFacts, type Facts } from '../../check/facts.js';
import type { Profile } from '../../contracts/profileSchema.js';
import { givenWorkdir } from '../../profiles/workdir.js';
import type { CheckedNode } from '../nodes/nodeChannels.js';

const clockSchema = z.object({ time: z.number() });
/** Of a node's clock; the quickest answer counts. */
const questions = 5;

/**
 * Rows of all these nodes: what each is made of, what differs, whose clock is off. `before`: results
 * that are known; a row that a node has there is not told again. Cancelled.
 */
export async function lookAtNodes(
  profile: Profile,
  nodes: readonly CheckedNode[],
  before: readonly CheckResult[],
): Promise<CheckResult[]> {
  const { interface: named = 'auto' } = profile;
  const wanted = named === 'auto' ? undefined : named;
  const facts = new Map<string, Facts>();
  const clocks = new Map<string, ClockReading>();
  const failed: CheckResult[] = [];
  await Promise.all(
    nodes.map(async ({ node, channel }) => {
      const peers = nodes.filter((other) => other.node !== node).map((other) => other.node.address);
      const params = { workdir: givenWorkdir(profile), interface: wanted ?? null, peers };
      try {
        facts.set(node.name, await channel.request('facts', params, factsSchema));
        const clock = readingOf(await askClock(channel));
        if (clock) clocks.set(node.name, clock);
      } catch (error) {
        if (isCancelled(error)) throw error;
        const known = before.some(({ host, ok }) => host === node.name && !ok);
        const hint = { kind: 'report', tryFirst: true } as const;
        if (!known) failed.push({ ...bad('set-up', errorText(error), hint), host: node.name });
      }
    }),
  );
  const told = (host: string, name: string): boolean =>
    before.some((result) => result.host === host && result.name === name);
  const ordered = nodes.flatMap(({ node: { name } }) => (facts.has(name) ? [name] : []));
  const rows = ordered.flatMap((host) => {
    const own = facts.get(host);
    return own ? judgeFacts(own, wanted).map((result) => ({ ...result, host })) : [];
  });
  return [
    ...failed,
    ...compareMtus(rows, facts).filter(({ host = '', name }) => !told(host, name)),
    ...judgeClocks(clocks),
  ];
}

async function askClock(
  channel: CheckedNode['channel'],
): Promise<{ before: number; after: number; there: number }[]> {
  const answers = [];
  for (let asked = 0; asked < questions; ++asked) {
    const before = Date.now() / 1000;
    const { time } = await channel.request('clock', {}, clockSchema);
    answers.push({ before, after: Date.now() / 1000, there: time });
  }
  return answers;
}
