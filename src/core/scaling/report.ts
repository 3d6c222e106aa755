// What a measurement comes to: everything that its pages show, as figures.
import { plural } from '../base/plural.js';
import { findBottleneck, type Bottleneck } from './bottleneck.js';
import { machinesOf, replicasOnHost, replicasOnMachine, type Layout } from './links.js';
import type { Setup } from './model.js';
import { gainedNothing, idealOfNode, nextNode, withOneMore, type NextNode } from './nextNode.js';
import { leaveOneOut, predictions, type LeftOut, type Prediction } from './predict.js';
import { scaledSeries, type ScaledPoint, type ScalingPoint } from './series.js';
import { modelInput, reductionOf, type ScalingStudy, type StudyPoint } from './study.js';

/** Numbers of replicas that are predicted. */
const predictedReplicas = [8, 32, 256, 1024];

/** Of one measurement. What could not be said is null or empty, and `notes` say why. */
export interface ScalingReport {
  study: ScalingStudy;
  weak: ScaledPoint<StudyPoint>[];
  strong: ScaledPoint<StudyPoint>[];
  bottleneck: Bottleneck | null;
  predictions: Prediction[];
  leftOut: LeftOut[];
  nextNode: NextNode | null;
  /** Sentences that a reader of the figures must know. */
  notes: string[];
}

/** `between`: the link between hosts, where it is known though nothing crossed it. */
export function reportOf(study: ScalingStudy, between?: Setup['between']): ScalingReport {
  const input = modelInput(study.points, between);
  const reduction = reductionOf(study.allReduce);
  const weak = scaledSeries(study.points, 'weak');
  const largest = weak.at(-1)?.point;
  const crosses = study.points.some(({ hosts }) => hosts > 1) || between !== undefined;
  const layouts = largest && crosses ? predictedReplicas.map((count) => layoutOf(largest, count)) : [];
  const ahead = input && layouts.length > 0 ? predictions(input.setup, input.timed, layouts, reduction) : [];
  const [more] =
    input && largest && crosses
      ? predictions(input.setup, input.timed, [withOneMore(largest)], reduction)
      : [];
  return {
    study,
    weak,
    strong: scaledSeries(study.points, 'strong'),
    bottleneck: findBottleneck(study.points, study.probe) ?? null,
    predictions: ahead,
    leftOut: input ? leaveOneOut(input.setup, input.timed, reduction) : [],
    nextNode: largest && more && !gainedNothing(weak) ? nextNode(largest, more, idealOfNode(weak)) : null,
    notes: notesOf(study, largest, crosses),
  };
}

/** Hosts are filled as the largest point filled them. */
function layoutOf(largest: ScalingPoint, replicas: number): Layout {
  const hosts = Math.ceil(replicas / replicasOnHost(largest));
  return { replicas, hosts, machines: machinesOf(largest, hosts) };
}

function notesOf(study: ScalingStudy, largest: ScalingPoint | undefined, crosses: boolean): string[] {
  const notes: string[] = [];
  const crowded = study.points.filter(
    (point) => point.cores !== null && replicasOnMachine(point) * point.threads > point.cores,
  );
  if (crowded.length > 0) {
    const counts = [...new Set(crowded.map(({ replicas }) => replicas))].join(', ');
    notes.push(
      `With ${counts} ${counts === '1' ? 'replica' : 'replicas'} the ranks of a machine share fewer cores than they have threads. These points tell of communication and of crowding, not of what so many machines would compute.`,
    );
  }
  if (largest && !crosses) {
    notes.push(
      'All replicas were on one host, and nothing is known of the link between hosts. So nothing is predicted for more hosts, and not what one more node would bring.',
    );
  }
  if (largest && crosses && study.points.every(({ hosts }) => hosts === 1)) {
    notes.push('Nothing was measured between hosts: predictions rest on the link that was named.');
  }
  if (largest?.replicas === 1) notes.push('One replica alone says nothing of scaling.');
  if (study.points.some(({ replicas }) => replicas > 1) && study.probe === null) {
    notes.push('Whether the batch is too small was not measured, since one replica was not.');
  }
  for (const { mode, replicas, message } of study.failed) {
    notes.push(`${mode} scaling with ${plural(replicas, 'replica')} failed: ${message}`);
  }
  if (study.missing.length > 0) {
    const what = study.missing.map(({ mode, replicas }) => `${mode} ${replicas}`).join(', ');
    notes.push(`The measurement was ended before these points: ${what}.`);
  }
  return notes;
}
