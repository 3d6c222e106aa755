// The trainer's flags, out of its own --help: so completion never knows others than the trainer
// does.

/** One flag of a verb of the trainer. */
export interface TrainerFlag {
  /** With its dashes. */
  name: string;
  /** `INT`, `TEXT`; undefined for a flag without a value. */
  value: string | undefined;
  /** Of a number: `1..1024`, `>0..86400` (0 itself is not possible). */
  range: string | undefined;
  initial: string | undefined;
  /** Where only some values are possible. */
  choices: readonly string[];
  help: string;
}

const line =
  /^ {2}(?:-\w,)?(--[\w-]+)(?: ([A-Z]+)(?::\{([^}]*)\}|,…)?(?::([^\s{=]+))?(?:=(\S+))?)?(?: +(.*))?$/;

/** Flags in the order of the help text; what it says in other lines is left out. */
export function parseTrainerHelp(text: string): TrainerFlag[] {
  const flags: TrainerFlag[] = [];
  for (const row of text.split('\n')) {
    const found = line.exec(row);
    const last = flags.at(-1);
    if (found) {
      const [, name = '', value, choices, range, initial, help = ''] = found;
      if (name === '--help') continue;
      flags.push({ name, value, range, initial, choices: choices?.split(',') ?? [], help });
    } else if (last?.help === '' && /^ {10,}\S/.test(row)) last.help = row.trim();
  }
  return flags;
}

/** What a user may type: with `--device auto`, which a request knows and the trainer does not. */
export const offeredFlags = (verb: string, help: string): TrainerFlag[] =>
  parseTrainerHelp(help).map((flag) =>
    verb === 'train' && flag.name === '--device'
      ? { ...flag, initial: 'auto', choices: ['auto', ...flag.choices], help: 'auto, cpu or cuda' }
      : flag,
  );

/**
 * What could stand next in `line`: flags that are not in it yet, or the values of the flag it ends
 * in.
 */
export function completions(commandLine: string, flags: readonly TrainerFlag[]): TrainerFlag[] {
  const words = commandLine.split(/\s+/);
  const current = words.at(-1) ?? '';
  const used = new Set(words.slice(0, -1));
  const before = flags.find(({ name }) => name === words.at(-2));
  if (before?.value !== undefined && before.choices.length === 0 && !current.startsWith('-')) return [];
  return flags.filter(({ name }) => !used.has(name) && (current === '' || name.startsWith(current)));
}
