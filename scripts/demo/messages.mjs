// What the command-line tool prints with --json, as far as the demo reads it: an object a line
// (docs/contracts/cli.md).

/**
 * A line of metrics.jsonl.
 * @typedef {{
 *   kind: 'step',
 *   step: number,
 *   generation: number,
 *   epoch: number,
 *   loss: number,
 *   top1: number,
 *   images_per_sec: number,
 * }} StepLine
 * @typedef {{ kind: 'eval', step: number, top1: number }} EvalLine
 * @typedef {StepLine | EvalLine | { kind: 'start', step?: undefined }} MetricLine
 */

/**
 * @typedef {{ type: 'metric', offset: number, line: MetricLine }} Metric
 * @typedef {{ type: 'run', id: string }} Run
 * @typedef {{
 *   type: 'summary',
 *   id: string,
 *   dir: string,
 *   phase: string,
 *   reason: string | null,
 *   best_top1: number,
 *   top1: number,
 *   images_per_sec: number,
 *   seconds: number,
 *   checkpoints: number,
 * }} Summary
 * @typedef {Metric | Run | Summary | { type: 'other' }} Message
 */

/**
 * Calls `onMessage` for each whole line that comes in some chunks.
 * @param {(message: Message) => void} onMessage
 * @returns {(chunk: string) => void}
 */
export function byLines(onMessage) {
  let pending = '';
  return (chunk) => {
    const lines = (pending + chunk).split('\n');
    pending = lines.pop() ?? '';
    for (const line of lines.filter(Boolean)) onMessage(JSON.parse(line));
  };
}
