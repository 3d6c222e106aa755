// What the run form's page is told of the trainer's flags, the nodes and what is wrong.
import { basename } from '../../core/base/nodePath.js';
import { formWords } from './formWords.js';
import { headFirst } from '../../core/cluster/nodes/hosts.js';
import { offerIn } from '../../core/cluster/nodes/offers.js';
import type { Machine } from '../../core/cluster/nodes/machine.js';
import type { Profile } from '../../core/contracts/profileSchema.js';
import type { HostSample } from '../../core/contracts/metricsSchema.js';
import { hasRanks, isSpare, startsRanks } from '../../core/contracts/slots.js';
import type { ClusterSession } from '../../core/follow/clusterSession.js';
import type { RunOverview } from '../../core/follow/overview.js';
import { gpuHolders } from '../../core/model/hosts/gpuHolders.js';
import { priceOf } from '../../core/cost/runCost.js';
import { runName, shortName } from '../../core/model/runName.js';
import { placeRun } from '../../core/plan/device.js';
import { offerInTurn } from '../../core/plan/gpuQueue.js';
import { originOf, weightsAt } from '../../core/plan/origin.js';
import type { NodeOffer } from '../../core/plan/placement.js';
import { proposedModels } from '../../core/plan/proposal.js';
import type { RunRequest } from '../../core/plan/request/request.js';
import { fieldFlags, optionFlags, optionsBeside } from '../../core/plan/form/runForm.js';
import type { RunFormValues } from '../../core/plan/form/runFormValues.js';
import type { FormProblem } from '../../core/plan/form/runFormCheck.js';
import { suggestions } from '../../core/plan/request/suggest.js';
import { modelsOf, type TrainerFlag } from '../../core/plan/request/trainerHelp.js';
import { valueWords } from '../../core/plan/request/flagCheck.js';
import type {
  FormBudget,
  FormChoice,
  FormNode,
  FormOption,
  FormSuggestion,
  FormView,
} from '../../webview/formProtocol.js';
import { ageText, freshSample, type HostFigures } from '../tree/clusterFigures.js';
import { describeProfile } from '../tree/describe.js';
import { gigabytes, plural, whole } from '../figureText.js';
import { allocationText } from './formSlurm.js';
import { misfitFields } from './misfit.js';

const labels: Record<(typeof optionFlags)[number], string> = {
  '--epochs': 'Epochs',
  '--batch-size': 'Batch size',
  '--lr': 'Learning rate',
  '--optimizer': 'Optimizer',
  '--eval-on': 'Evaluated on',
  '--precision': 'Precision',
};

/** All profiles, and the chosen one also where it is gone. */
export function profileChoices(sessions: readonly ClusterSession[], chosen: string): FormChoice[] {
  const known = sessions.map(({ profile, state }) => {
    const { label, description } = describeProfile(profile, state);
    return { value: profile.name, label: `${label} · ${description}`, group: '' };
  });
  if (known.some(({ value }) => value === chosen)) return known;
  return [{ value: chosen, label: chosen, group: '' }, ...known];
}

export function connectionOf(
  session: ClusterSession | undefined,
  machine: Machine | undefined,
): FormView['connection'] {
  const state = session?.state.kind ?? 'disconnected';
  if (machine) return 'connected';
  if (state === 'disconnected') return 'none';
  return state === 'connected' ? 'connecting' : state;
}

/** Of a profile that is not connected. `problem`: why its last attempt failed; empty for none. */
export function connectionText(session: ClusterSession | undefined, problem: string): string {
  if (problem !== '' || !session) return problem;
  if (session.state.kind === 'connecting') return 'Connecting…';
  if (session.profile.kind === 'local') return session.isLeft ? 'Disconnected.' : 'Looking at this machine…';
  return 'Not connected: its GPUs, folders and flags are shown once it is. Starting a run connects too.';
}

const sentence = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1);

/** The fields of the trainer's flags; without help as long as nobody knows it. */
export const optionsOf = (
  flags: readonly TrainerFlag[] | undefined,
  values: Pick<RunFormValues, 'evalData'>,
): FormOption[] =>
  optionsBeside(values).map((flag) => {
    const known = flags?.find(({ name }) => name === flag);
    const range = known?.choices.length === 0 ? valueWords(known) : '';
    return {
      flag,
      label: labels[flag],
      help: sentence(known?.help ?? ''),
      range: sentence(range),
      initial: known?.initial ?? '',
      choices: known?.choices ?? [],
    };
  });

/** The trainer's models, with a line about those that are well known. */
export function modelChoices(flags: readonly TrainerFlag[] | undefined, chosen: string): FormChoice[] {
  const names = modelsOf(flags ?? []).map(({ name }) => name);
  const known = names.length > 0 ? names : proposedModels.map(({ label }) => label);
  const all = known.includes(chosen) || chosen === '' ? known : [chosen, ...known];
  return all.map((value) => {
    const about = proposedModels.find(({ label }) => label === value)?.description;
    return { value, label: about === undefined ? value : `${value} · ${about}`, group: '' };
  });
}

/** Of the further flags: none that has a field of its own. */
export function flagSuggestions(line: string, flags: readonly TrainerFlag[]): FormSuggestion[] {
  const owned: readonly string[] = [...optionFlags, ...Object.keys(fieldFlags), '--run-dir'];
  const others = flags.filter(({ name }) => !owned.includes(name));
  return suggestions(`train ${line}`, others);
}

/** Each problem at its field; what is only missing yet is told once somebody tried to start. */
export function problemsText(problems: readonly FormProblem[], tried: boolean): Record<string, string> {
  const told = problems.filter(({ missing }) => tried || missing !== true);
  return Object.fromEntries(told.reverse().map((problem) => [problem.field, problemText(problem)]));
}

/** Where a flag has a field of its own, the field says its name, and the text its values. */
function problemText({ field, error }: FormProblem): string {
  const isOption = (optionFlags as readonly string[]).includes(field);
  if (!isOption || !error.what.startsWith(`${field} must be `)) return formWords(error);
  return `${sentence(error.what.slice(field.length + 1))}.`;
}

export function formNodes(hosts: readonly HostFigures[]): FormNode[] {
  return hosts.map((figures) => {
    const sample = freshSample(figures);
    if (!sample) return { host: figures.name, text: ageText(figures), gpus: [] };
    const free = sample.memory_total - sample.memory_used;
    const gpus = sample.gpus.length === 0 ? ', no GPU' : '';
    return {
      host: figures.name,
      text: `${plural(figures.cores, 'core')} at ${sample.cpu_percent.toFixed(0)}%, ${gigabytes(free)} GB of memory free${gpus}`,
      gpus: gpusOf(sample),
    };
  });
}

const gpusOf = (sample: HostSample): FormNode['gpus'] =>
  offerIn(sample, 1, { host: sample.host }).gpus.map(({ index, busy }) => {
    const gpu = sample.gpus.find((each) => each.index === index);
    const room = gpu ? `${gigabytes(gpu.memory_total - gpu.memory_used)} GB` : '';
    return {
      index,
      name: [gpu?.name ?? '', ...(gpu ? gpuHolders(gpu) : [])].join('\n'),
      free: busy === undefined,
      text: busy === undefined ? `free, ${room}` : `taken by ${busy}`,
    };
  });

/** How many nodes a run takes that names no number. */
export function usualNodes({ kind, hosts = [], slurm = {}, maxNodes, spares = 0 }: Profile): string {
  if (kind === 'slurm') return String(slurm.nodes ?? 1);
  const there = hosts.filter(hasRanks).length;
  const taken = Math.min(maxNodes ?? there, there - spares);
  const text = taken === there ? `all ${there}` : String(taken);
  return spares === 0 ? text : `${text}, and ${plural(spares, 'spare')}`;
}

/** What of a budget the profile says; null without a price. */
export function budgetOf(profile: Profile): FormBudget | null {
  const price = priceOf(profile);
  if (price === undefined) return null;
  const { budget, budgetStop = false } = profile;
  return {
    currency: price.currency,
    initial: budget === undefined ? '' : String(budget),
    stops: budgetStop,
  };
}

/**
 * Whose weights these are, where they are a run's checkpoint: by its name, as far as it is listed.
 */
export function originText(
  weights: string,
  profile: string,
  runs: readonly { profile: string; run: RunOverview }[],
): string {
  const path = weights.trim();
  if (path === '') return '';
  const from = originOf(weightsAt(path));
  if (from === undefined) return path;
  const listed = runs.find((one) => one.profile === profile && one.run.entry.dir === from.dir);
  const name = listed ? runName(listed.run.entry) : shortName(basename(from.dir));
  return `${name}, step ${whole(from.step)}`;
}

/** Images of one step on all ranks; undefined where nobody knows. */
export function batchOf(
  { options, flags: more }: RunFormValues,
  flags: readonly TrainerFlag[] | undefined,
  ranks: number | undefined,
): number | undefined {
  const each = Number(options['--batch-size'] ?? flags?.find(({ name }) => name === '--batch-size')?.initial);
  if (/--(accumulate|servers|strategy)/.test(more)) return undefined; // a step takes another number
  return ranks !== undefined && each > 0 ? each * ranks : undefined;
}

/** Where a run would go, or why it has no place. */
export interface RunPlace {
  text: string;
  /** What stands before the text. */
  title: string;
  ranks?: number;
  /** By field. */
  problems?: Record<string, string>;
}

/**
 * In place of where the run would go, while its data lacks, or nobody knows yet whether it does.
 */
export const waitingText = (lack: string | undefined): RunPlace =>
  lack === undefined
    ? { text: 'looking for the data on the nodes…', title: 'Wait' }
    : { text: `${lack.replace(/\.$/, '')}.`, title: 'Would not start now' };

/**
 * Where the run would go by the newest figures: `2 ranks on gpu1 (GPU 0, 1)`, or why it does not
 * fit. Undefined while not all nodes have told theirs; where hosts are named, only these and the
 * head count. Of Slurm, what it would be asked for.
 */
export async function placeText(
  request: RunRequest,
  hosts: readonly HostFigures[],
): Promise<RunPlace | undefined> {
  const { profile } = request;
  const misfit = (error: unknown): RunPlace => ({
    text: formWords(error),
    title: 'Does not fit now',
  });
  if (profile.kind === 'slurm') {
    try {
      return { text: allocationText(request), title: 'Would ask Slurm for' };
    } catch (error) {
      return misfit(error);
    }
  }
  if (hosts.length === 0) return undefined; // not connected
  const offers: NodeOffer[] = [];
  const head = headFirst(profile)[0]?.host;
  for (const figures of hosts) {
    if (request.hosts && ![head, ...request.hosts].includes(figures.name)) continue;
    const sample = freshSample(figures);
    if (!sample) return undefined;
    const offer = offerIn(sample, figures.cores, hostOf(profile, figures.name));
    offers.push(offerInTurn({ ...offer, ...(profile.kind === 'local' ? { isHere: true } : {}) }, undefined));
  }
  const unknown = (): Promise<undefined> => Promise.resolve(undefined);
  const placed = (asked: RunRequest): ReturnType<typeof placeRun> =>
    placeRun(asked, offers, { before: unknown, backEnd: unknown });
  try {
    const { placement, device, choice } = await placed(request);
    const nodes = placement.nodes.filter(startsRanks).map(({ host, slots, gpus }) => {
      const which = gpus === null ? '' : ` (GPU ${gpus.join(', ')})`;
      return `${plural(slots, 'rank')} on ${host}${which}`;
    });
    const why = choice?.asked === 'auto' && device === 'cpu' ? `, on the CPU: ${choice.why}` : '';
    const ranks = placement.nodes.filter(startsRanks).reduce((sum, { slots }) => sum + slots, 0);
    const spares = placement.nodes.filter(isSpare).map(({ host }) => host);
    const waiting = spares.length === 0 ? '' : `; ${spares.join(', ')} as spare`;
    return { text: `${nodes.join(', ')}${why}${waiting}.`, title: 'Would start now', ranks };
  } catch (error) {
    return { ...misfit(error), problems: await misfitFields(request, error, placed) };
  }
}

const hostOf = ({ kind, hosts = [] }: Profile, name: string): NodeOffer['host'] =>
  (kind === 'local' ? undefined : hosts.find(({ host }) => host === name)) ?? {
    ...(kind === 'local' ? hosts[0] : {}),
    host: name,
  };
