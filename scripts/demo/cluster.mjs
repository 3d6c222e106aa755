// The main job over SSH, on a practice cluster of this machine: in its course the client is killed
// and attached again, and a rank is killed. At the end everything is looked at: metrics, journal,
// checkpoints, processes.
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cache } from '../lib/paths.mjs';
import { capture, step } from '../lib/shell.mjs';
import { startPracticeCluster } from '../practice/practice.mjs';
import { demoTraining } from './data.mjs';
import { byLines } from './messages.mjs';
import { metricProblems, journalProblems } from './clusterChecks.mjs';

/** @import { PracticeCluster } from '../practice/practice.mjs' */
/** @import { Rank } from './clusterChecks.mjs' */
/** @import { DemoCluster } from './editor.mjs' */
/** @import { Message, Run, Summary } from './messages.mjs' */

const remoteData = '~/shapes';

/**
 * A home folder for Trainyard that knows this cluster, and the keys of its hosts.
 * @param {PracticeCluster} cluster
 */
function makeHome(cluster) {
  const home = join(cache, 'practice', 'trainyard');
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const profile = {
    ...cluster.profile,
    maxRestarts: 2,
    hangTimeout: 60,
    env: { OMP_NUM_THREADS: '1' }, // its nodes are one machine
  };
  writeFileSync(
    join(home, 'profiles.json'),
    `${JSON.stringify({ version: 1, profiles: [profile] }, undefined, 2)}\n`,
  );
  copyFileSync(cluster.knownHosts, join(home, 'known_hosts'));
  return home;
}

/** The command-line tool on that home, one call after the other. */
class Client {
  /**
   * @param {string} cli
   * @param {string} home
   */
  constructor(cli, home) {
    this.cli = cli;
    this.env = { ...process.env, TRAINYARD_HOME: home };
  }

  /**
   * Runs to its end; its JSON lines.
   * @param {...string} words
   */
  ask(...words) {
    const args = [this.cli, '--json', ...words];
    const { ok, stdout, stderr } = capture(process.execPath, args, { env: this.env });
    if (!ok) throw new Error(`trainyard ${words.join(' ')} failed: ${stderr.trim()}`);
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }

  /**
   * Starts one that stays; `onMessage` is called for each JSON line.
   * @param {readonly string[]} words
   * @param {(message: Message) => void} onMessage
   */
  follow(words, onMessage) {
    const child = spawn(process.execPath, [this.cli, '--json', ...words], {
      env: this.env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8').on('data', byLines(onMessage));
    /** @type {Promise<{ code: number | null, signal: string | null }>} */
    const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
    return { child, ended };
  }
}

/** Resolves with what `condition` says of a message. */
function watcher() {
  /** @typedef {(message: Message) => boolean} Condition */
  /** @type {{ condition: Condition, resolve: (message: Message) => void }[]} */
  const waiting = [];
  return {
    /** @param {Message} message */
    tell: (message) => {
      for (const one of [...waiting]) if (one.condition(message)) one.resolve(message);
    },
    /**
     * @param {Condition} condition
     * @returns {Promise<Message>}
     */
    until: (condition) => new Promise((resolve) => waiting.push({ condition, resolve })),
  };
}

/** @param {Message} message */
function show(message) {
  if (message.type !== 'metric') return;
  const { line } = message;
  if (line.kind === 'step' && line.step % 50 === 0)
    process.stderr.write(
      `  step ${String(line.step).padStart(5)}  loss ${line.loss.toFixed(4)}  ${line.images_per_sec.toFixed(0).padStart(5)} images/s\n`,
    );
  if (line.kind === 'eval')
    process.stderr.write(
      `  step ${String(line.step).padStart(5)}  validation top-1 ${(100 * line.top1).toFixed(1)}%\n`,
    );
}

/**
 * The same cluster for somebody who looks: it lives as long as `use` does, which is given what the
 * editor needs.
 * @param {{ cli: string, data: string, epochs: string, nodes: number }} demo
 * @param {(cluster: DemoCluster) => Promise<void>} use
 */
export async function withCluster({ cli, data, epochs, nodes }, use) {
  step(`a practice cluster of ${nodes} nodes`);
  const cluster = await startPracticeCluster({ nodes });
  try {
    const home = makeHome(cluster);
    step('checking the nodes, and putting agent, trainer, runtime and images on them');
    const client = new Client(cli, home);
    client.ask('check', cluster.profile.name);
    client.ask('copy', cluster.profile.name, data, remoteData);
    await use({ home, profile: cluster.profile.name, words: demoTraining(remoteData, epochs) });
  } finally {
    await cluster.stop();
  }
}

/**
 * Returns the exit code.
 * @param {{ cli: string, data: string, started: number, epochs: string, nodes: number }} demo
 */
export async function runCluster({ cli, data, started, epochs, nodes }) {
  step(`a practice cluster of ${nodes} nodes`);
  const cluster = await startPracticeCluster({ nodes });
  try {
    return await trainOn(cluster, { cli, data, started, epochs });
  } finally {
    await cluster.stop();
  }
}

/**
 * @param {PracticeCluster} cluster
 * @param {{ cli: string, data: string, started: number, epochs: string }} demo
 */
async function trainOn(cluster, { cli, data, started, epochs }) {
  const { name } = cluster.profile;
  const client = new Client(cli, makeHome(cluster));
  step('checking the nodes, and putting agent, trainer and runtime on them');
  client.ask('check', name);
  step(`copying the images to ${cluster.nodes.length} nodes`);
  client.ask('copy', name, data, remoteData);

  step('training');
  const words = demoTraining(remoteData, epochs);
  /** @type {Message[]} */
  const messages = [];
  const first = watcher();
  const one = client.follow(['run', name, '--name', 'demo', '--', ...words], (message) => {
    messages.push(message);
    show(message);
    first.tell(message);
  });
  /**
   * @param {number} least
   * @returns {(message: Message) => boolean}
   */
  const stepAtLeast = (least) => (message) =>
    message.type === 'metric' && message.line.kind === 'step' && message.line.step >= least;
  const early = await Promise.race([first.until(stepAtLeast(40)), one.ended]);
  if ('code' in early) throw new Error(`the run ended with exit ${early.code} before step 40`);
  step('killing the client; training goes on');
  one.child.kill('SIGKILL');
  await one.ended;

  const second = watcher();
  const run = messages.find((message) => message.type === 'run');
  if (run === undefined) throw new Error('the client did not name the run before step 40');
  /** @type {Message[]} */
  const seen = [];
  const two = client.follow(['attach', run.id], (message) => {
    seen.push(message);
    second.tell(message);
    if (message.type !== 'metric' || (message.line.step ?? 0) > 40) show(message);
  });
  const later = await Promise.race([second.until(stepAtLeast(80)), two.ended]);
  if ('code' in later) throw new Error(`the attached client ended with exit ${later.code} before step 80`);
  const victim = killRank(client, name, run);
  step(`killed rank ${victim.rank} on ${victim.host}`);
  const { code } = await two.ended;
  const summary = seen.at(-1);
  if (summary?.type !== 'summary')
    throw new Error(`the client ended with exit ${code} and without a summary`);
  return report({ client, cluster, summary, messages, seen, victim, started });
}

/**
 * SIGKILL to the last rank's program, by its pid on its own node.
 * @param {Client} client
 * @param {string} profile
 * @param {Run} run
 * @returns {Rank}
 */
function killRank(client, profile, run) {
  const [{ state }] = client.ask('runs', profile).filter(({ id }) => id === run.id);
  /** @type {Rank} */
  const rank = state.ranks.at(-1);
  client.ask('exec', profile, '--hosts', rank.host, '--', 'kill', '-KILL', String(rank.pid));
  return rank;
}

/**
 * @param {{
 *   client: Client,
 *   cluster: PracticeCluster,
 *   summary: Summary,
 *   messages: readonly Message[],
 *   seen: readonly Message[],
 *   victim: Rank,
 *   started: number,
 * }} all
 */
function report({ client, cluster, summary, messages, seen, victim, started }) {
  const home = cluster.nodes[0]?.home ?? '';
  /** @param {string} file */
  const text = (file) => readFileSync(join(summary.dir, file), 'utf8');
  const found = [
    ...(summary.phase === 'finished' ? [] : [`the run ended as ${summary.phase}: ${summary.reason}`]),
    ...(summary.dir.startsWith(home) ? [] : [`the run is in ${summary.dir}, not in the head's home`]),
    ...metricProblems(text('metrics.jsonl'), messages, seen),
    ...journalProblems(text('events.jsonl'), { victim, nodes: cluster.nodes.length }),
    ...(summary.best_top1 >= 0.9 ? [] : [`validation top-1 is ${summary.best_top1}, below 0.9`]),
  ];
  const left = client.ask('kill-leftovers', cluster.profile.name, '--list');
  for (const { host, what, pid } of left.filter(({ type }) => type === 'process'))
    found.push(`a process is left on ${host}: ${pid} ${what}`);
  process.stdout.write(
    [
      '',
      `run          ${summary.id}`,
      `nodes        ${cluster.nodes.map(({ address }) => address).join(', ')}`,
      `images/s     ${summary.images_per_sec.toFixed(1)}`,
      `time         ${summary.seconds.toFixed(1)} s of training, ${((Date.now() - started) / 1000).toFixed(1)} s in all`,
      `accuracy     ${(100 * summary.best_top1).toFixed(1)}% best (validation top-1)`,
      `checkpoints  ${summary.checkpoints} valid`,
      `client       killed once, attached again: ${seen.filter(({ type }) => type === 'metric').length} metrics lines`,
      `rank         ${victim.rank} on ${victim.host} killed: restarted from a checkpoint`,
      '',
    ].join('\n'),
  );
  for (const problem of found) process.stderr.write(`error: ${problem}\n`);
  return found.length === 0 ? 0 : 1;
}
