// Runs of the real trainer as scripts/bench/recordRuns.mjs recorded them: a line of what was run
// and when, and the lines of metrics.jsonl.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { demand } from '../../../src/core/base/validation.js';
import { parseMetric, type Metric } from '../../../src/core/contracts/metricsSchema.js';

const folder = resolve(import.meta.dirname, '../../fixtures/forecast');

/** Times in seconds since the epoch. */
const headSchema = z.object({
  recordedBy: z.string(),
  command: z.string(),
  started: z.number(),
  ended: z.number(),
  generation: z.int(),
  price: z.object({ per: z.literal('node'), amount: z.number(), currency: z.string() }),
});
export type Recorded = z.infer<typeof headSchema> & { metrics: Metric[] };

export const recordedNames = readdirSync(folder).map((file) => file.replace('.jsonl', ''));

export function recordedRun(name: string): Recorded {
  const text = readFileSync(join(folder, `${name}.jsonl`), 'utf8').trimEnd();
  const [head, ...metrics] = text.split('\n').map((line): unknown => JSON.parse(line));
  return { ...demand(headSchema, head, name), metrics: metrics.map(parseMetric) };
}
