// What --help prints.
import { synopsis } from './args.js';
import type { Verb } from './context.js';

const runNote =
  'RUN is an id, a unique prefix or part of one, a name of --name, a run folder, or last, the newest. P is the name of a profile; local is always there.';

export function generalHelp(verbs: readonly Verb[]): string[] {
  const width = Math.max(...verbs.map(({ verb }) => verb.length));
  return [
    'usage: trainyard VERB [--json] …',
    '',
    ...verbs.map(({ verb, summary }) => `  ${verb.padEnd(width)}  ${summary}`),
    '',
    runNote,
    '--json prints one JSON object a line. trainyard VERB --help says more of a verb; trainyard --version the version.',
    'Exit codes: 0 done, 1 a defect of ours, 2 usage, 3 connection, 4 preflight, 5 the run failed or is interrupted, 75 the run was stopped on request, 130 Ctrl-C outside of a run.',
  ];
}

export function verbHelp(verb: Verb): string[] {
  const flags = [
    ...verb.flags.map(
      ({ name, value, help }) => [`--${name}${value === undefined ? '' : ` ${value}`}`, help] as const,
    ),
    ['--json', 'one JSON object a line'] as const,
    ['--help', 'this text'] as const,
  ];
  const width = Math.max(...flags.map(([name]) => name.length));
  return [
    `usage: ${synopsis(verb)}`,
    '',
    `${verb.verb}: ${verb.summary}`,
    '',
    ...flags.map(([name, help]) => `  ${name.padEnd(width)}  ${help}`),
    ...(verb.details ?? []).flatMap((paragraph) => ['', paragraph]),
  ];
}
