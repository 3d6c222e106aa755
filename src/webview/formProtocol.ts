// What the page of the run form and the extension tell each other. The extension has the values
// and judges them; the page shows them and says what was changed.

import type { RunFormValues } from '../core/plan/form/runFormValues.js';

/** What is filled in: the core's own fields, the only thing of the core that the page knows. */
export type FormValues = RunFormValues;

/** A word to choose, with a line about it. */
export interface FormChoice {
  value: string;
  label: string;
  /** The group that it stands in; empty for none. */
  group: string;
}

/** A flag of the trainer that has a field of its own. */
export interface FormOption {
  flag: string;
  label: string;
  help: string;
  /** Which values it takes, in words; empty where nobody knows. */
  range: string;
  /** What it is where nothing is filled in; empty where nobody knows. */
  initial: string;
  /** Where only some values are possible. */
  choices: readonly string[];
}

/** Something that a run may ask of Slurm for itself. */
export interface FormSlurmField {
  /** The problem of the field has the name `slurm.KEY`. */
  key: string;
  label: string;
  help: string;
  /** What the profile says; empty where it says nothing. */
  initial: string;
  /** Where only some values are possible, the first for what the profile says. */
  choices: readonly FormChoice[];
}

/** What the profile says of a run's cost. */
export interface FormBudget {
  /** Of the price. */
  currency: string;
  /** The profile's own amount; empty where it has none. */
  initial: string;
  /** Whether a run stops once its budget is spent, unless it says otherwise. */
  stops: boolean;
}

/** A GPU, or a node without one, as it is now. */
export interface FormNode {
  host: string;
  /** Cores and memory, or why nobody knows. */
  text: string;
  gpus: readonly { index: number; name: string; free: boolean; text: string }[];
}

/** A word that could stand next among the further flags. */
export interface FormSuggestion {
  word: string;
  value: string;
  help: string;
}

/** What is in a folder of the node. */
export interface FormFolder {
  /** With a slash at its end. */
  path: string;
  /** Undefined while it is being read. */
  folders?: readonly string[];
  /** How many entries are no folders. */
  others?: number;
  problem?: string;
}

/** Of a training that names no images for validation. */
export interface FormValidation {
  /** Images for validation that are there; empty for none. */
  found: string;
  /** Whether a part can be held out by a button, or is being held out. */
  holdOut: 'no' | 'can' | 'busy';
  /** A command that holds a part out; empty where nobody knows the folder. */
  command: string;
}

/** All that the page shows besides the values. */
export interface FormView {
  profiles: readonly FormChoice[];
  /** Presets of the workspace, and earlier runs. */
  sources: readonly FormChoice[];
  /** What is wrong with the file of presets; empty where nothing is. */
  presetProblem: string;
  /** Whether there is a workspace that presets can be saved in. */
  keepsPresets: boolean;
  models: readonly FormChoice[];
  options: readonly FormOption[];
  /** Whether the profile's node is this machine. */
  isHere: boolean;
  connection: 'none' | 'connecting' | 'connected' | 'failed';
  /** One line about the connection; empty where there is nothing to say. */
  connectionText: string;
  /** How many nodes a run takes that names no number, in words. */
  usualNodes: string;
  /** Null where the profile has no price to count with. */
  budget: FormBudget | null;
  /** Empty of a profile that is none of Slurm. */
  slurm: readonly FormSlurmField[];
  /** Whose weights the training begins with, in words; empty for new ones. */
  origin: string;
  nodes: readonly FormNode[];
  /** Where the run would go now, or why it does not fit; empty while nobody knows. */
  placeText: string;
  /** What stands before that text. */
  placeTitle: string;
  /** By field, `slurm.KEY`, or the flag of an option; the empty name is the form as a whole. */
  problems: Readonly<Record<string, string>>;
  command: string;
  suggestions: readonly FormSuggestion[];
  folder: FormFolder | null;
  /** What the folder of training images holds; empty while nobody knows. */
  dataText: string;
  /** Null where there is nothing to say of it. */
  validation: FormValidation | null;
  starting: boolean;
  /** What the last button did, or what went wrong; empty for nothing. */
  said: string;
  saidIsError: boolean;
}

export type ToForm =
  /** New values, which take the place of what the page shows. */
  | { type: 'values'; values: FormValues }
  /** `sequence`: of the newest values that it is about. */
  | { type: 'view'; sequence: number; view: FormView };

export type FromForm =
  | { type: 'ready' }
  | { type: 'change'; sequence: number; values: FormValues }
  | { type: 'load'; source: string }
  | { type: 'connect' }
  /** Adds a cluster, whose profile is then chosen. */
  | { type: 'addCluster' }
  /** Looks into a folder of the node; an empty path closes it. */
  | { type: 'look'; path: string }
  /** Takes the folder as data, with its part for validation. */
  | { type: 'take'; path: string }
  /** Takes the halves that were found, as training and validation images. */
  | { type: 'takeHalves' }
  /** Holds a part of the images out for validation. */
  | { type: 'holdOut' }
  | { type: 'copyHoldOut' }
  /** Asks for a folder of this machine and puts it on the nodes, as data. */
  | { type: 'upload' }
  | { type: 'chooseFolder' }
  | { type: 'copy' }
  | { type: 'savePreset' }
  /** Shows what Slurm would get. */
  | { type: 'showScript' }
  /** Opens the file of presets where it is wrong. */
  | { type: 'openPresets' }
  | { type: 'start' }
  /** A defect in the page, for the extension's log. */
  | { type: 'failed'; message: string };
