// Holds what a verb prints with `--json` to its schema.
import { outputRecords } from '../../src/cli/json/records.js';
import { outputOfVerbs } from '../../src/cli/json/verbs.js';
import { check, problemsText } from '../../src/core/base/validation.js';

/** Throws for a line that is none of those of the verb. The last one may be cut off. */
export function demandSchema(args: readonly string[], stdout: string): void {
  const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
  const [verb = ''] = own;
  const names = outputOfVerbs[verb];
  if (!own.includes('--json') || own.includes('--help') || !names) return;
  for (const line of stdout.split('\n').slice(0, -1)) {
    const value: unknown = JSON.parse(line);
    const tries = names.map((name) => ({ name, result: check(outputRecords[name], value) }));
    if (tries.some(({ result }) => result.ok)) continue;
    const why = tries.map(({ name, result }) => `${name}: ${result.ok ? '' : problemsText(result.problems)}`);
    throw new Error(`trainyard ${verb} prints what has no schema: ${line}\n${why.join('\n')}`);
  }
}
