// What must be true of a run's files after its client and one of its ranks were killed.

/** @import { Message, MetricLine, StepLine } from './messages.mjs' */

/** @typedef {{ rank: number, host: string, pid: number }} Rank */
/** @typedef {Partial<Rank> & { kind: string, signal?: number, phase?: string }} JournalEvent */

/** @param {string} text */
const parse = (text) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/**
 * No line lost or doubled: the second client's lines are the file's, the first one's are its
 * beginning.
 * @param {string} file
 * @param {readonly Message[]} first
 * @param {readonly Message[]} second
 */
export function metricProblems(file, first, second) {
  /** @type {string[]} */
  const problems = [];
  /** @type {Map<number, string>} */
  const offsets = new Map();
  let at = 0;
  for (const line of file.split('\n')) {
    if (line !== '') offsets.set(at, line);
    at += Buffer.byteLength(line) + 1;
  }
  for (const { who, messages } of [
    { who: 'first', messages: first },
    { who: 'second', messages: second },
  ]) {
    const lines = messages.filter((message) => message.type === 'metric');
    /** @type {Set<number>} */
    const seen = new Set();
    for (const { offset, line } of lines) {
      if (seen.has(offset)) problems.push(`the ${who} client printed the line at byte ${offset} twice`);
      seen.add(offset);
      if (JSON.stringify(JSON.parse(offsets.get(offset) ?? 'null')) !== JSON.stringify(line))
        problems.push(`the ${who} client's line at byte ${offset} is not that of the file`);
    }
    const expected = who === 'second' ? offsets.size : lines.length;
    if (seen.size !== expected)
      problems.push(`the ${who} client saw ${seen.size} metrics lines, the file has ${offsets.size}`);
  }
  return [...problems.slice(0, 5), ...stepProblems(parse(file))];
}

/**
 * Newer generations supersede: then every logged step from the first to the last stands once.
 * @param {readonly MetricLine[]} lines
 */
function stepProblems(lines) {
  /** @type {Map<number, StepLine>} */
  const steps = new Map();
  let generation = 0;
  for (const line of lines) {
    if (line.kind !== 'step') continue;
    if (line.generation > generation) {
      generation = line.generation;
      for (const step of [...steps.keys()]) if (step >= line.step) steps.delete(step);
    }
    if (line.generation < generation)
      return [`step ${line.step} of generation ${line.generation} came after generation ${generation}`];
    if (steps.has(line.step)) return [`step ${line.step} was logged twice in generation ${generation}`];
    steps.set(line.step, line);
  }
  const numbers = [...steps.keys()].sort((a, b) => a - b);
  const stride = numbers[0]; // the first line is written after as many steps as lie between two lines
  const last = numbers.at(-1);
  const gaps = numbers
    .slice(1)
    .filter((step, index) => step !== last && step - (numbers[index] ?? 0) !== stride);
  return gaps.map((step) => `steps before ${step} are missing from metrics.jsonl`);
}

/**
 * The journal tells what happened: every node joined, the rank that was killed, one restart, the
 * end.
 * @param {string} file
 * @param {{ victim: Rank, nodes: number }} expected
 */
export function journalProblems(file, { victim, nodes }) {
  /** @type {JournalEvent[]} */
  const events = parse(file);
  /** @type {string[]} */
  const problems = [];
  /** @param {string} kind */
  const of = (kind) => events.filter((event) => event.kind === kind);
  const joined = new Set(of('node_joined').map(({ host }) => host));
  if (joined.size !== nodes) problems.push(`the journal has ${joined.size} nodes that joined, not ${nodes}`);
  const killed = of('rank_exited').find(
    ({ rank, host, pid, signal }) =>
      rank === victim.rank && host === victim.host && pid === victim.pid && signal === 9,
  );
  if (!killed) problems.push(`the journal does not say that rank ${victim.rank} was killed by signal 9`);
  if (of('started').length !== 2) problems.push(`the journal has ${of('started').length} generations, not 2`);
  if (of('restarting').length !== 1) problems.push('the journal has no restart');
  const ends = of('finished');
  if (ends.length !== 1 || ends[0]?.phase !== 'finished')
    problems.push('the journal does not end with finished');
  return problems;
}
