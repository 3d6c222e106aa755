// The command line's root: finds the verb, runs it, and turns what went wrong into one line and an
// exit code.
import { Cancelled, exitCodes, oneLine, systemCode, UserError } from '../core/base/errors.js';
import { agentErrors } from '../core/contracts/agentApi.js';
import { AgentError } from '../core/agent/agentClient.js';
import { version } from '../../package.json';
import { nearestOf } from '../core/base/nearest.js';
import { parseVerb, UnknownFlag, type Args, type Flag } from './args.js';
import { Context, type Verb } from './context.js';
import { generalHelp, verbHelp } from './help.js';
import { placedFlag } from './misplacedFlag.js';
import { errorWords } from './remedies.js';
import { processOutput, stderrLogger, type Output } from './output.js';
import { endWithTerminal, ownTerminals } from './signals.js';
import { verbs } from './table.js';

const common: readonly Flag[] = [
  { name: 'json', help: 'one JSON object a line' },
  { name: 'help', help: 'this text' },
];

async function main(argv: readonly string[], output: Output): Promise<number> {
  const first = argv.find((word) => word !== '--json');
  const help = (lines: readonly string[]): number => {
    for (const line of lines) output.line(line);
    return exitCodes.done;
  };
  if (first === undefined) {
    throw new UserError(
      'usage',
      'a verb is missing',
      `It is one of: ${verbs.map(({ verb }) => verb).join(', ')}`,
    );
  }
  if (first === '--version') {
    output.line(version);
    return exitCodes.done;
  }
  if (first === '--help' || first === '-h' || first === 'help') {
    const named = argv[argv.indexOf(first) + 1];
    return help(named === undefined ? generalHelp(verbs) : verbHelp(findVerb(named)));
  }
  const verb = findVerb(first);
  const rest = argv.filter((_, index) => index !== argv.indexOf(first));
  const parsed = parsedVerb(verb, rest);
  if (!(parsed instanceof UnknownFlag) && parsed.has('help')) return help(verbHelp(verb));
  const json = !(parsed instanceof UnknownFlag) && parsed.has('json');
  const context = new Context(output, json, currentFolder(), __dirname, process.env, stderrLogger());
  try {
    if (parsed instanceof UnknownFlag) {
      throw await placedFlag(parsed, verb, rest, (words) => context.trainerHere.runTrainerIfThere(words));
    }
    return await verb.run(context, parsed);
  } finally {
    context.dispose();
  }
}

/** UserError (usage) where it was deleted since the shell went there. */
function currentFolder(): string {
  try {
    return process.cwd();
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error;
    const hint = 'Change to another one (cd), and give the command again';
    throw new UserError('usage', 'the current folder no longer exists', hint, { cause: error });
  }
}

function parsedVerb(verb: Verb, argv: readonly string[]): Args | UnknownFlag {
  try {
    return parseVerb({ ...verb, flags: [...verb.flags, ...common], ...lenient(verb, argv) }, argv);
  } catch (error) {
    if (error instanceof UnknownFlag) return error;
    throw error;
  }
}

/** With --help the words may be missing. */
function lenient(verb: Verb, argv: readonly string[]): Partial<Verb> {
  const end = argv.indexOf('--');
  const own = end < 0 ? argv : argv.slice(0, end);
  return own.includes('--help') ? { words: verb.words.map((word) => `${word.replace(/\?$/, '')}?`) } : {};
}

/** What other tools call what a verb does here. */
const elsewhere: Readonly<Record<string, string>> = {
  ...{ ps: 'runs', status: 'runs', list: 'runs', ls: 'runs', queue: 'runs', squeue: 'runs' },
  ...{ kill: 'stop', cancel: 'stop', scancel: 'stop', down: 'stop', rm: 'delete', remove: 'delete' },
  ...{ doctor: 'check', preflight: 'check', scaling: 'report', cost: 'report', start: 'run' },
  ...{ launch: 'run', submit: 'run', sbatch: 'run', retry: 'run-from', rerun: 'run-from' },
  ...{ tail: 'logs', log: 'logs', ssh: 'terminal', shell: 'terminal', cp: 'copy', rsync: 'copy' },
  ...{ 'nvidia-smi': 'gpus', nodes: 'check', forward: 'tunnel', cleanup: 'clean' },
};

function findVerb(word: string): Verb {
  const found = verbs.find(({ verb }) => verb === word);
  if (found) return found;
  const names = verbs.map(({ verb }) => verb);
  const known = Object.hasOwn(elsewhere, word) ? elsewhere[word] : undefined;
  const nearest = known ?? nearestOf(word, names);
  const all = `It is one of: ${names.join(', ')}`;
  throw new UserError(
    'usage',
    `trainyard has no verb ${word}`,
    nearest === undefined ? all : `Did you mean ${nearest}?`,
  );
}

/** One line on stderr, and the exit code. */
function report(error: unknown, output: Output): number {
  if (error instanceof Cancelled) {
    output.note('trainyard: cancelled');
    return exitCodes.interrupted;
  }
  if (error instanceof UserError) {
    output.note(`trainyard: error: ${errorWords(error)}`);
    return error.exitCode;
  }
  if (error instanceof AgentError && error.code > 0) {
    output.note(`trainyard: error: ${oneLine(error.message)}`);
    return error.code === agentErrors.notFound ? exitCodes.usage : exitCodes.preflight;
  }
  output.note(`trainyard: error: ${errorWords(error)}. This is a defect of Trainyard: please report it.`);
  if (process.env['TRAINYARD_LOG'] !== undefined && error instanceof Error) output.note(error.stack ?? '');
  return exitCodes.defect;
}

const terminals = ownTerminals();
const output = processOutput();
const exitAtOnce = (error: unknown): void => {
  const code = report(error, output);
  endWithTerminal(terminals);
  process.exit(code);
};
process.on('uncaughtException', exitAtOnce);
process.on('unhandledRejection', exitAtOnce);
void main(process.argv.slice(2), output)
  .catch((error: unknown) => report(error, output))
  .then((code) => {
    process.exitCode = code;
    endWithTerminal(terminals);
  });
