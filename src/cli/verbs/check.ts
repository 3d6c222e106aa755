import { exitCodes } from '../../core/base/errors.js';
import type { Verb } from '../context.js';
import { table } from '../format.js';
import { adviceText } from '../remedies.js';

export const check: Verb = {
  verb: 'check',
  summary: 'says whether a run could start on a profile',
  words: ['P'],
  flags: [],
  details: ['Exits 4 when something is missing.'],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const results = await context.withProgress((progress) => context.machine.check(profile, progress));
    if (context.json) {
      for (const result of results) {
        context.output.json({ type: 'check', ...result, hint: adviceText(result.hint) });
      }
    } else {
      const rows = results.map(({ host, name, ok, detail, hint }) => [
        host === undefined ? name : `${host}: ${name}`,
        ok ? 'ok' : 'FAILED',
        ok ? detail : `${detail}. ${adviceText(hint)}.`,
      ]);
      for (const line of table(['CHECK', 'STATE', 'DETAIL'], rows)) context.output.line(line);
    }
    return results.every(({ ok }) => ok) ? exitCodes.done : exitCodes.preflight;
  },
};
