import { exitCodes } from '../../core/base/errors.js';
import { checkTable } from '../../core/model/checkTable.js';
import { checkLines } from '../checkTable.js';
import type { Verb } from '../context.js';
import { adviceText } from '../remedies.js';

/** Characters of a line where nobody says how many there are. */
const usualWidth = 100;

export const check: Verb = {
  verb: 'check',
  summary: 'says whether a run could start on a profile',
  words: ['P'],
  flags: [{ name: 'deep', help: 'measures links between the nodes, and their CPUs, too' }],
  details: ['Exits 3 when a host cannot be reached, 4 when something else is missing.'],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const { machine } = context;
    const results = await context.withProgress((progress) =>
      machine.check(profile, progress, { deep: args.has('deep') }),
    );
    if (context.json) {
      for (const result of results) {
        context.output.json({ type: 'check', ...result, hint: adviceText(result.hint) });
      }
    } else {
      const nodes = machine.nodes.map(({ name }) => name);
      for (const line of checkLines(checkTable(results, nodes), context.output.width ?? usualWidth)) {
        context.output.line(line);
      }
    }
    const bad = results.filter(({ ok }) => !ok);
    if (bad.length === 0) return exitCodes.done;
    return bad.some(({ name }) => name === 'connection') ? exitCodes.connection : exitCodes.preflight;
  },
};
