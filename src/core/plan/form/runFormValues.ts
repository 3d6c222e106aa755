// The fields of the form that asks for a run. The form's page reads this file too, so it imports
// nothing.

/** What is filled in; an empty text is nothing. */
export interface RunFormValues {
  profile: string;
  /** Our trainer, or a program of the user's. */
  what: 'train' | 'program';
  model: string;
  /** A folder as the node calls it, or `synthetic`. */
  data: string;
  evalData: string;
  /** The file whose weights the training begins with; empty for new ones. */
  weights: string;
  /** The trainer's flags that have a field of their own, by name. */
  options: Record<string, string>;
  /** Further flags of the trainer. */
  flags: string;
  device: string;
  /** The command line of the own program. */
  command: string;
  spread: 'one' | 'slot' | 'node';
  /** Of this machine: where the program starts, or what goes along to the nodes. */
  folder: string;
  logdir: string;
  /** `FROM:TO`: what is put on the nodes' own disks before; empty for what the profile says. */
  stage: string;
  nodes: string;
  /** With commas between them; empty for all. */
  hosts: string;
  gpus: string;
  ranks: string;
  wait: boolean;
  /** An amount in the profile's currency; empty for what the profile says. */
  budget: string;
  /** What happens once it is spent; empty for what the profile says. */
  budgetStop: '' | 'stop' | 'goOn';
  /** How long the run may take, say 2h; empty for as long as it wants. */
  timeLimit: string;
  /** Of an own program: how long it may say nothing, say 10m; empty for what the profile says. */
  silenceTimeout: string;
  /** Of an own program: the folder that the other nodes get; empty for what the profile says. */
  share: string;
  /** Of an own program: a file of this machine that names its Python packages. */
  requirements: string;
  /** What is asked of Slurm, by the names of its fields; empty for what the profile says. */
  slurm: Record<string, string>;
  tensorboard: boolean;
  name: string;
  /** With commas between them. */
  tags: string;
  notes: string;
}
