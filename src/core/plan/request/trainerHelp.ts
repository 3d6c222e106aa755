// The trainer's flags, out of its own --help: so completion never knows others than the trainer
// does.

/** One flag of a verb of the trainer. */
export interface TrainerFlag {
  /** With its dashes. */
  name: string;
  /** `INT`, `TEXT`; undefined for a flag without a value. */
  value: string | undefined;
  /** Takes several values, with commas between them. */
  list: boolean;
  /** Of a number: `1..1024`, `>0..86400` (0 itself is not possible). */
  range: string | undefined;
  initial: string | undefined;
  /** Where only some values are possible. */
  choices: readonly string[];
  help: string;
}

const line =
  /^ {2}(?:-\w,)?(--[\w-]+)(?: ([A-Z]+)(?::\{([^}]*)\}|(,…))?(?::([^\s{=]+))?(?:=(\S+))?)?(?: +(.*))?$/;

/** Flags in the order of the help text; what it says in other lines is left out. */
export function parseTrainerHelp(text: string): TrainerFlag[] {
  const flags: TrainerFlag[] = [];
  for (const row of text.split('\n')) {
    const found = line.exec(row);
    const last = flags.at(-1);
    if (found) {
      const [, name = '', value, choices, several, range, initial, help = ''] = found;
      if (name === '--help') continue;
      const list = several !== undefined;
      flags.push({ name, value, list, range, initial, choices: choices?.split(',') ?? [], help });
    } else if (last?.help === '' && /^ {10,}\S/.test(row)) last.help = row.trim();
  }
  return flags;
}

/** A network of the trainer. */
export interface TrainerModel {
  name: string;
  /** Pixels a side of the images that it is meant for. */
  pixels: number;
}

const modelText = /^([\w-]+) \((\d+) px\)$/;

/** The networks that the trainer knows, as its help lists them; empty where it lists none. */
export function modelsOf(flags: readonly TrainerFlag[]): TrainerModel[] {
  const parts = flags.find(({ name }) => name === '--model')?.help.split(', ') ?? [];
  const models = parts.map((part) => modelText.exec(part)).filter((found) => found !== null);
  if (models.length < parts.length) return [];
  return models.map(([, name = '', pixels = '']) => ({ name, pixels: Number(pixels) }));
}

/** What a user may type: with `--device auto`, which a request knows and the trainer does not. */
export function offeredFlags(verb: string, help: string): TrainerFlag[] {
  const flags = parseTrainerHelp(help);
  const models = modelsOf(flags).map(({ name }) => name);
  return flags.map((flag) => {
    if (flag.name === '--model') return { ...flag, choices: models };
    if (verb !== 'train' || flag.name !== '--device') return flag;
    return { ...flag, initial: 'auto', choices: ['auto', ...flag.choices], help: 'auto, cpu or cuda' };
  });
}
