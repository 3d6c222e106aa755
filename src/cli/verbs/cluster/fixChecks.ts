// check --fix: what can be mended from here is shown, run after a yes, and checked again.
import { UserError } from '../../../core/base/errors.js';
import type { CheckResult } from '../../../core/base/checks.js';
import { fixesOf, type Fix } from '../../../core/check/fixes.js';
import { applyFixes, asksPassword, type Fixed } from '../../../core/cluster/nodes/fixNodes.js';
import type { SshMachine } from '../../../core/cluster/sshMachine.js';
import type { Context } from '../../context.js';
import { demandYes } from '../../prompter.js';
import { errorWords } from '../../remedies.js';

/** What `--fix` was given for all rows. */
const everyRow = 'all';

export interface FixWish {
  row: string;
  /** Only of these nodes. */
  hosts: readonly string[] | undefined;
  /** Without a question. */
  yes: boolean;
}

/**
 * Whether all commands did their work. UserError (usage) where nothing of that row can be mended
 * from here, or nobody can be asked; Cancelled.
 */
export async function fixChecks(
  context: Context,
  machine: SshMachine,
  results: readonly CheckResult[],
  wish: FixWish,
): Promise<boolean> {
  const fixes = chosenFixes(machine, results, wish);
  const { output } = context;
  if (!context.json) {
    for (const { row, remedy, hosts } of fixes) {
      output.line(`${row}, on ${hosts.join(', ')}${remedy.asRoot ? ', as root' : ''}: ${remedy.command}`);
    }
  }
  await demandYes(wish.yes, 'Run this there?', 'nothing was run');
  const done = await context.withProgress(({ signal }) => applyFixes(machine.nodes, fixes, signal));
  for (const one of done) {
    const { row, host, command, code, said } = one;
    const why = one.error === undefined ? said : errorWords(one.error);
    if (context.json) output.json({ type: 'fix', row, host, command, code, said: why });
    else output.line(code === 0 ? `${host}: done` : `${host}: ${endingText(one, why)}`);
  }
  if (fixes.some(({ remedy }) => remedy.onNextLogin)) {
    output.note('a limit counts for new connections alone: check again to see it');
  }
  return done.every(({ code }) => code === 0);
}

/** One line that says which rows `--fix` can mend, or undefined. */
export function fixNote(profile: string, results: readonly CheckResult[]): string | undefined {
  const rows = [...new Set(fixesOf(results).map(({ row }) => row))];
  if (rows.length === 0) return undefined;
  const [first = ''] = rows;
  const row = rows.length > 1 ? everyRow : first.includes(' ') ? `"${first}"` : first;
  return `Trainyard can run what mends ${rows.join(', ')}: trainyard check ${profile} --fix ${row}`;
}

function chosenFixes(
  machine: SshMachine,
  results: readonly CheckResult[],
  { row, hosts }: FixWish,
): readonly Fix[] {
  const names = machine.select(hosts).map(({ name }) => name);
  const all = fixesOf(results);
  const fixes = all.flatMap((fix) => {
    const own = fix.hosts.filter((host) => names.includes(host));
    return own.length > 0 && (row === everyRow || fix.row === row) ? [{ ...fix, hosts: own }] : [];
  });
  if (fixes.length > 0) return fixes;
  const rows = [...new Set(all.map((fix) => fix.row))];
  const what = row === everyRow ? 'no row' : `row "${row}"`;
  throw new UserError(
    'usage',
    `${what} has nothing that can be run from here${hosts ? ` on ${hosts.join(', ')}` : ''}`,
    rows.length === 0 ? 'See what the check says to do' : `Name one of: ${rows.join(', ')}`,
  );
}

function endingText(one: Fixed, why: string): string {
  const ending = one.code === null ? why : `exit ${one.code}${why === '' ? '' : `: ${why}`}`;
  return asksPassword(one) ? `${ending}. Run it with sudo in a terminal of the node` : ending;
}
