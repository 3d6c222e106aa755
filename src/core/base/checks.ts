// What is looked at before a run starts, and how it is told.
import { UserError } from './errors.js';
import type { Advice } from './remedy.js';

/**
 * One thing that was looked at: whether it is right, what was seen, and what to do where it is
 * wrong. `hint` is empty where all is well.
 */
export interface CheckResult {
  name: string;
  ok: boolean;
  detail: string;
  hint: Advice;
  /** Of which node, in a cluster of several. */
  host?: string;
  /** A run can start (`ok` is true), and may suffer from it: `hint` says what to do. */
  warning?: true;
  /**
   * The figure that `detail` tells, in a unit of the check's own. Such figures differ from node to
   * node by their nature, as free space does, so a difference says nothing.
   */
  amount?: number;
}

/** A check that passed. `detail` says what was seen. */
export const good = (name: string, detail: string): CheckResult => ({ name, ok: true, detail, hint: '' });
/** A check that failed. `detail` says what is wrong, `hint` what to do. */
export const bad = (name: string, detail: string, hint: Advice): CheckResult => ({
  name,
  ok: false,
  detail,
  hint,
});

/** A check that passed, of something that may harm a run. */
export const warned = (name: string, detail: string, hint: Advice): CheckResult => ({
  ...bad(name, detail, hint),
  ok: true,
  warning: true,
});

/** UserError (preflight) with the first check that failed, and what else did. */
export function assertPassed(results: readonly CheckResult[]): void {
  const failed = results.filter(({ ok }) => !ok);
  const [first] = failed;
  if (!first) return;
  const named = ({ host, name }: CheckResult): string => (host === undefined ? name : `${host}: ${name}`);
  const others = failed.slice(1).map(named);
  const more = others.length > 0 ? ` (also wrong: ${others.join(', ')})` : '';
  throw new UserError('preflight', `${named(first)}: ${first.detail}${more}`, first.hint);
}
