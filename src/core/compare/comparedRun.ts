// One run as a comparison has it: plain data, small, however long the run. It may be kept as JSON.
import type { RunStatus } from '../model/runStatus.js';

/** Null is what nobody knows. Accuracies are fractions, times in seconds, amounts in the currency. */
export interface RunFigures {
  /** Updates and epochs made. */
  steps: number | null;
  epochs: number | null;
  /** Of training: of the last line, and the least of all lines. */
  loss: number | null;
  bestLoss: number | null;
  /** Of evaluations: of the last step that was evaluated, and the best. */
  evalLoss: number | null;
  bestEvalLoss: number | null;
  top1: number | null;
  bestTop1: number | null;
  top5: number | null;
  bestTop5: number | null;
  /** The median of the epochs, the first one left out. */
  secondsPerEpoch: number | null;
  /** For which the run held its nodes. */
  seconds: number | null;
  /** Images of all steps over the time of these steps. */
  imagesPerSec: number | null;
  /** How many writers of an own program `imagesPerSec` is the sum of; null for one alone, and ours. */
  rateWriters: number | null;
  cost: number | null;
  /** Of a run under way: what it comes to at its end. */
  costAtEnd: number | null;
  costPerEpoch: number | null;
  /** Generations after the first one. */
  restarts: number | null;
  /** Between the checkpoints from which they went on and the moments at which they did. */
  secondsLost: number | null;
  costLost: number | null;
  /** For which the run held its nodes and made no step. */
  secondsIdle: number | null;
  costIdle: number | null;
}

/** What an own program reported under one name: the last value, and the least and the greatest. */
export interface OwnFigure {
  writer: string;
  tag: string;
  last: number | null;
  min: number | null;
  max: number | null;
}

/** One evaluation. `epoch` and `cost` are null where nobody knows. */
export interface EvaluatedPoint {
  step: number;
  epoch: number | null;
  /** For which the run had held its nodes when it had made that step. */
  hours: number;
  top1: number;
  top5: number;
  loss: number | null;
  cost: number | null;
}

/** One curve over the run: columns of equal length, bounded. */
export interface RunCurve {
  /** `loss`, `images/s`, `top-1`, `top-5`, or the name under which an own program reported it. */
  name: string;
  step: number[];
  epoch: (number | null)[];
  hours: number[];
  value: (number | null)[];
}

/** One run among those that are compared. */
export interface ComparedRun {
  id: string;
  /** What people call it; else the id without its date. */
  name: string;
  tags: string[];
  dir: string;
  profile: string;
  status: RunStatus;
  /** Of its price; null where the profile had none at the start. */
  currency: string | null;
  /** Name and value of what was asked for, and of what the run made of it. */
  settings: Record<string, string>;
  figures: RunFigures;
  own: OwnFigure[];
  evaluations: EvaluatedPoint[];
  curves: RunCurve[];
}

/** What a series of an own program is called: its tag, and its writer where there are several. */
export const ownName = ({ writer, tag }: Pick<OwnFigure, 'writer' | 'tag'>): string =>
  writer === '' ? tag : `${writer}: ${tag}`;
