// What a tree item says, from a snapshot; nothing here knows the editor.
import { contextValues } from '../../contributions.js';
import { basename } from '../../core/base/nodePath.js';
import type { Checkpoint } from '../../core/contracts/checkpointSchema.js';
import { gpuHoursText } from '../../core/cost/gpuHours.js';
import { heldSeconds } from '../../core/cost/heldTime.js';
import { costText } from '../../core/cost/runCost.js';
import type { SessionState } from '../../core/follow/clusterSession.js';
import { gpuHolders } from '../../core/model/hosts/gpuHolders.js';
import { gpuNotes, gpuTrouble, missingFigures } from '../../core/model/hosts/gpuTrouble.js';
import type { HostSample, WaitingStart } from '../../core/contracts/metricsSchema.js';
import type { Host, Profile } from '../../core/contracts/profileSchema.js';
import { hasRanks } from '../../core/contracts/slots.js';
import { ordinal } from '../../core/plan/gpuQueue.js';
import { cudaBuildLines, type CudaBuild } from '../../core/setup/cudaBuild.js';
import type { Tunnel } from '../../core/tunnels/tunnels.js';
import { wasActive, type LastSeen } from '../../core/follow/lastSeen.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { accuracyKind } from '../../core/model/accuracyKind.js';
import { errorWords } from '../remedies.js';
import { otherImagesText } from '../../core/model/countedEvaluations.js';
import type { OtherEvaluation } from '../../core/model/runMetrics.js';
import { hasOldFigures, type Health, type HealthKind } from '../../core/model/runHealth.js';
import { runName } from '../../core/model/runName.js';
import { isOver, reasonOf, statusText, type RunStatus } from '../../core/model/runStatus.js';
import { spendingText } from '../../core/model/spending.js';
import { duration, gigabytes, percent, plural, seenAgo, size, whole, epochUnderWay } from '../figureText.js';

export interface ItemText {
  label: string;
  description: string;
  tooltip: string;
  /** A codicon and, where it helps, a theme colour. */
  icon: string;
  color?: string;
  contextValue: string;
}

const icons: Record<RunStatus, readonly [string, string?]> = {
  queued: ['watch', 'charts.blue'],
  starting: ['sync', 'charts.blue'],
  running: ['play-circle', 'charts.blue'],
  stopping: ['sync', 'charts.yellow'],
  evaluating: ['beaker', 'charts.blue'],
  finished: ['pass', 'charts.green'],
  stopped: ['circle-slash'],
  failed: ['error', 'charts.red'],
  interrupted: ['warning', 'charts.yellow'],
  unknown: ['question'],
};

const ill = ['warning', 'charts.yellow'] as const;

/**
 * `running · 34% · 3 min left · 74.1% · 412 img/s`, `finished · 95.2% · 2 min`, `failed: out of
 * memory`.
 */
export function describeRun(overview: RunOverview, now = Date.now() / 1000): ItemText {
  const { entry, status, health, step, totalSteps, epoch, totalEpochs, best, cost, gpuHours } = overview;
  const spending = overview.spending();
  const [icon, color] = health.level === 'warning' ? ill : icons[status];
  const reason = reasonOf(entry) ?? '';
  const tags = (entry.about?.tags ?? []).map((tag) => `#${tag}`).join(' ');
  const lines = [
    entry.about?.name ?? '',
    entry.id,
    tags,
    entry.about?.notes ?? '',
    health.text,
    entry.dir,
    entry.run ? `${plural(entry.run.ranks, 'rank')}: ${entry.run.argv.join(' ')}` : '',
    step === undefined
      ? ''
      : `step ${whole(step)}${totalSteps === undefined ? '' : ` of ${whole(totalSteps)}`}`,
    isOver(status) || epoch === undefined || totalEpochs === undefined || totalEpochs < 1
      ? ''
      : `epoch ${epochUnderWay(epoch, totalEpochs)} of ${Math.ceil(totalEpochs)}`,
    cost === undefined ? '' : `cost ${costText(cost, isOver(status))}`,
    gpuHours === undefined ? '' : `${gpuHoursText(gpuHours)} GPU hours`,
    spending === undefined ? '' : spendingText(spending),
    best === undefined ? '' : `best top-1 ${percent(best.top1)} at step ${whole(best.step)}`,
    reason,
  ];
  return {
    label: runName(entry),
    description: [
      ...(isOver(status) ? overParts(overview, now) : activeParts(overview)),
      ...(tags === '' ? [] : [tags]),
    ].join(' · '),
    tooltip: lines.filter((line) => line !== '').join('\n'),
    icon,
    ...(color === undefined ? {} : { color }),
    contextValue: contextOf(status),
  };
}

function contextOf(status: RunStatus): string {
  if (!isOver(status)) return contextValues.activeRun;
  return status === 'finished' ? contextValues.overRun : contextValues.earlyRun;
}

function activeParts(overview: RunOverview): string[] {
  const { entry, status, step, fraction, imagesPerSec, loss, secondsLeft, best } = overview;
  const { health, rateWriters } = overview;
  const isIll = health.level === 'warning' || health.level === 'error';
  const parts: string[] = [isIll ? shortHealth(health) : statusText(status, entry)];
  if (step !== undefined) {
    parts.push(fraction === undefined ? `step ${whole(step)}` : `${Math.floor(fraction * 100)}%`);
  }
  const isOld = hasOldFigures(health);
  if (secondsLeft !== undefined && status === 'running') {
    parts.push(`${duration(secondsLeft)} left`);
  }
  if (best !== undefined) parts.push(percent(best.top1));
  if (imagesPerSec !== undefined && !isOld) {
    parts.push(`${whole(imagesPerSec)} img/s${rateWriters > 1 ? `, sum of ${rateWriters}` : ''}`);
  }
  if (loss !== undefined) parts.push(`loss ${Number(loss.toPrecision(4))}`);
  return parts;
}

/** Without the name of the program that says it. */
const causeOf = (reason: string): string => reason.replace(/^(?:trainer: )?error: /, '');

function overParts(overview: RunOverview, now: number): string[] {
  const { entry, status, health, loss, top1, best } = overview;
  const reason = reasonOf(entry) ?? '';
  const hasCause = status === 'failed' || entry.queue?.kind === 'ended';
  const parts: string[] = [hasCause && reason !== '' ? `${status}: ${causeOf(reason)}` : status];
  if (health.kind === 'bad-images') parts.push(shortHealth(health));
  const accuracy = best?.top1 ?? top1;
  if (accuracy !== undefined && status !== 'failed') parts.push(percent(accuracy) + accuracyKind(overview));
  else if (loss !== undefined && status !== 'failed') parts.push(`loss ${Number(loss.toPrecision(4))}`);
  const { state } = entry;
  if (state?.ended && status !== 'failed') parts.push(duration(heldSeconds(entry.run, state)));
  if (state?.ended) parts.push(`${duration(Math.max(0, now - state.ended))} ago`);
  return parts;
}

/** What is wrong, in the few words that a line of a list has place for. */
export function shortHealth({ kind, text }: Health): string {
  const [first = text] = text.split(',', 1);
  return kind === 'slow-rank' ? first : (shortWords[kind] ?? text);
}

const shortWords: Partial<Record<HealthKind, string>> = {
  queued: 'queued',
  restarting: 'restarting',
  'node-lost': 'node lost',
  stalled: 'stalled',
  silent: 'no figures',
  waiting: 'waiting for nodes',
  'checkpoint-failed': 'checkpoint failed',
  'disk-low': 'disk low',
  budget: 'budget',
  'bad-images': 'bad images',
  'idle-gpus': 'idle GPUs',
};

/** A profile. `sums`: in place of its kind and its nodes once it is connected. */
export function describeProfile(
  profile: Profile,
  state: SessionState,
  { last, sums }: { last?: LastSeen | undefined; sums?: string | undefined } = {},
): ItemText {
  const nodes = profile.hosts?.length ?? 1;
  const what = profile.kind === 'local' ? 'this machine' : `${profile.kind}, ${plural(nodes, 'node')}`;
  const connected = state.kind === 'connected';
  const words: Record<SessionState['kind'], string> = {
    disconnected: lastWords(last) ?? `${what} · not connected`,
    connecting: `${what} · connecting…`,
    connected: sums ?? what,
    failed: state.kind === 'failed' ? errorWords(state.error) : '',
  };
  return {
    label: profile.name,
    description: words[state.kind],
    tooltip: `${profile.name}: ${what}, ${state.kind}${state.kind === 'failed' ? `\n${words.failed}` : ''}`,
    icon: state.kind === 'failed' ? 'warning' : profile.kind === 'local' ? 'vm' : 'server-environment',
    ...(state.kind === 'failed'
      ? { color: 'list.warningForeground' }
      : connected
        ? { color: 'charts.green' }
        : {}),
    contextValue: profileContext(profile, connected),
  };
}

/** `not connected · 1 was running 3 h ago`, of runs that are remembered. */
function lastWords(last: LastSeen | undefined): string | undefined {
  const count = last?.runs.filter(wasActive).length ?? 0;
  if (!last || count === 0) return undefined;
  return `not connected · ${count} ${count === 1 ? 'was' : 'were'} running ${seenAgo(last)}`;
}

function profileContext({ name, kind }: Profile, connected: boolean): string {
  if (kind !== 'local') return connected ? contextValues.sshConnected : contextValues.sshDisconnected;
  if (name !== 'local') return connected ? contextValues.ownConnected : contextValues.ownDisconnected;
  return connected ? contextValues.builtinConnected : contextValues.builtinDisconnected;
}

/** `:8080 → gpu1:80`, how much went through, and why it does not. */
export function describeTunnel({ forward }: Tunnel): ItemText {
  const { local, port, remote, bytesIn, bytesOut, lastProblem } = forward;
  const problem = lastProblem === undefined ? undefined : errorWords(lastProblem);
  return {
    label: `:${port} → ${remote}`,
    description: problem ?? `${size(bytesIn)} in, ${size(bytesOut)} out`,
    tooltip: `${local} leads to ${remote}${problem === undefined ? '' : `\n${problem}`}`,
    icon: problem === undefined ? 'arrow-swap' : 'warning',
    contextValue: contextValues.tunnel,
  };
}

/** Bytes: a disk with less free than this is said in the row. */
const diskLow = 10e9;

/** `2 cores at 35%, 3.1/23.5 GB`, and the free disk where that is low. */
export function describeHost(sample: HostSample, cores: number, cudaBuild?: CudaBuild): ItemText {
  const missing = missingFigures(sample);
  const disk = sample.disk_free === null ? 'disk unknown' : `${gigabytes(sample.disk_free)} GB of disk free`;
  const isLow = sample.disk_free !== null && sample.disk_free < diskLow;
  const memory = `${gigabytes(sample.memory_used)}/${gigabytes(sample.memory_total)} GB`;
  return {
    label: sample.host,
    description: [
      `${plural(cores, 'core')} at ${sample.cpu_percent.toFixed(0)}%, ${memory}`,
      ...(isLow ? [disk] : []),
      ...missing,
    ].join(' · '),
    tooltip: [
      `${sample.host}: ${disk}, ${plural(sample.gpus.length, 'GPU')}`,
      ...cudaBuildLines(cudaBuild, sample.gpus.length),
    ].join('\n'),
    icon: missing.length === 0 && !isLow ? 'server' : 'warning',
    contextValue: contextValues.host,
  };
}

/** The item of a node, which says so where no rank runs there. */
export function withoutRanks(text: ItemText, host: Host | undefined): ItemText {
  if (!host || hasRanks(host)) return text;
  const tooltip = `${text.tooltip}\nIt holds the runs of this profile. No rank runs here (slots: 0).`;
  return { ...text, description: `${text.description} · no ranks`, tooltip };
}

type GpuProcess = HostSample['gpus'][number]['processes'][number];

/** `bob, python3 (pid 4121)`: as much of it as is known. */
function processText({ pid, user, command }: GpuProcess): string {
  const [program = ''] = (command ?? '').trim().split(/\s+/);
  const names = [user ?? '', basename(program)].filter((name) => name !== '');
  return names.length === 0 ? `pid ${pid}` : `${names.join(', ')} (pid ${pid})`;
}

/**
 * `H100 80GB HBM3  GPU 0`, `61.2/79.6 GB · 97% · 64°C`, and whose it is: a run of ours by name, or
 * the processes of others.
 */
export function describeGpu(
  gpu: HostSample['gpus'][number],
  runOf: (process: GpuProcess) => string | undefined,
): ItemText {
  const parts = [`${gigabytes(gpu.memory_used)}/${gigabytes(gpu.memory_total)} GB`];
  if (gpu.utilization !== null) parts.push(`${gpu.utilization.toFixed(0)}%`);
  if (gpu.temperature !== null) parts.push(`${gpu.temperature.toFixed(0)}°C`);
  const ours = [...new Set(gpu.processes.flatMap((process) => runOf(process) ?? []))];
  const others = gpu.processes.filter((process) => runOf(process) === undefined);
  if (ours.length > 0) parts.push(`ours: ${ours.join(', ')}`);
  if (others.length > 0) {
    parts.push(`someone: ${others.map(processText).join('; ')}`);
  }
  if (gpu.held_by && ours.length === 0) parts.push(`held by ${gpu.held_by.run || 'a run that starts'}`);
  const trouble = gpuTrouble(gpu);
  parts.push(...trouble);
  return {
    label: `${gpu.name.replace(/^NVIDIA /, '')}  GPU ${gpu.index}`,
    description: parts.join(' · '),
    tooltip: [gpu.name, gpu.uuid, ...gpuHolders(gpu), ...gpuNotes(gpu)].join('\n'),
    icon: trouble.length === 0 ? 'circuit-board' : 'warning',
    contextValue: contextValues.gpu,
  };
}

/**
 * `1st in the queue  2 GPUs · ada@laptop · 3 min`. `now`: seconds since the epoch, as the node
 * tells it.
 */
export function describeWaiting(
  { gpus, count, by, since }: WaitingStart,
  place: number,
  now: number,
): ItemText {
  const wanted =
    count === gpus.length ? `GPUs ${gpus.join(', ')}` : `${count} of the GPUs ${gpus.join(', ')}`;
  const waited = duration(Math.max(0, now - since));
  return {
    label: `${ordinal(place)} in the queue`,
    description: [count === 1 ? '1 GPU' : `${count} GPUs`, by, waited]
      .filter((word) => word !== '')
      .join(' · '),
    tooltip: [
      `A start${by === '' ? '' : ` of ${by}`} waits for ${wanted}, since ${waited}.`,
      'The notification of its start cancels it; in a terminal, Ctrl-C.',
    ].join('\n'),
    icon: 'watch',
    contextValue: contextValues.waiting,
  };
}

/** `best 74.1%  204 MB · 4 min ago · valid`. */
export function describeCheckpoint(
  checkpoint: Checkpoint,
  marks: { top1: number | undefined; other?: OtherEvaluation | undefined } & Record<
    'best' | 'latest' | 'alone',
    boolean
  >,
  now: number,
): ItemText {
  const { step, bytes, time, valid, reason } = checkpoint;
  const best = marks.best && marks.top1 !== 0; // where no image was named rightly, none is best
  const words = [
    marks.top1 === undefined ? '' : `${best ? 'best ' : ''}${percent(marks.top1)}`,
    marks.other === undefined ? '' : `${percent(marks.other.top1)} ${otherImagesText(marks.other)}`,
    marks.latest ? 'latest' : '',
    size(bytes),
    time > 0 ? `${duration(now - time)} ago` : '', // of one without a manifest nobody knows when
    valid ? '' : `not valid: ${reason ?? 'unknown'}`,
  ];
  return {
    label: `step ${whole(step)}`,
    description: words.filter((word) => word !== '').join(' · '),
    tooltip: `${checkpoint.path}${valid ? '\nvalid' : ''}`,
    icon: valid ? (best ? 'star-full' : 'save') : 'warning',
    ...(valid ? (best ? { color: 'charts.yellow' } : {}) : { color: 'charts.red' }),
    contextValue: contextOfCheckpoint(valid, marks.alone),
  };
}

function contextOfCheckpoint(valid: boolean, alone: boolean): string {
  if (!valid) return contextValues.damagedCheckpoint;
  return alone ? contextValues.lastCheckpoint : contextValues.checkpoint;
}
