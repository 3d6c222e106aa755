// What the nodes of a run that starts may make it suffer from.
import type { CheckResult } from '../core/base/checks.js';
import type { Context } from './context.js';
import { adviceText } from './remedies.js';

/** A line of `--json`. */
export const checkRecord = (result: CheckResult): { type: 'check' } & CheckResult & { hint: string } => ({
  ...result,
  type: 'check',
  hint: adviceText(result.hint),
});

/** Prints each warning with what to do. */
export function printWarnings(context: Context, warnings: readonly CheckResult[]): void {
  for (const warning of warnings) {
    const { host, name, detail, hint } = warning;
    const advice = adviceText(hint);
    if (context.json) context.output.json(checkRecord(warning));
    else context.output.note(`warning: ${host ?? ''} ${name}: ${detail}${advice && `. ${advice}`}`);
  }
}
