import { exitCodes, UserError } from '../../core/base/errors.js';
import { findWebPage, forwardPage, pageUrl } from '../../core/follow/webPage/webPage.js';
import type { Args } from '../args.js';
import type { Verb } from '../context.js';
import { untilSignal } from '../signals.js';

export const open: Verb = {
  verb: 'open',
  summary: 'until Ctrl-C, a tunnel to the web page that a run serves, with its address',
  words: ['RUN'],
  flags: [
    {
      name: 'rank',
      value: 'N',
      help: 'the page of this rank; by default of the first one that printed an address',
    },
    { name: 'port', value: 'N', help: 'the page at this port of its node; by default what was printed last' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    'Your program may be Jupyter, Gradio, a dashboard or another server. Its address is looked for in what its ranks print, say http://127.0.0.1:8888/lab?token=…. Until it is there, open waits.',
    'The page is at the same port of 127.0.0.1 here, or at the next free one. A run of profile local needs no tunnel: the address is printed, and open ends.',
    'A server that prints no such address is opened by --port.',
  ],
  async run(context, args) {
    const wish = { rank: numberOf(args, 'rank', 0), port: numberOf(args, 'port', 1) };
    const { dir, id } = await context.resolveRun(args);
    const { machine, logger, output } = context;
    const found = await context.withProgress((progress) => findWebPage(machine, dir, wish, progress));
    const { rank, host } = found;
    const forward = found.isHere ? undefined : await forwardPage(machine, found, logger);
    try {
      const url = pageUrl(found, forward?.port);
      if (context.json) output.json({ type: 'page', id, dir, rank, host, url });
      else output.line(forward ? `${url}  (Ctrl-C ends the tunnel)` : url);
      if (forward) await untilSignal();
    } finally {
      forward?.dispose();
    }
    return exitCodes.done;
  },
};

/** UserError (usage). */
function numberOf(args: Args, name: 'rank' | 'port', least: number): number | undefined {
  const text = args.value(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (value >= least && value <= 65535) return value;
  const what = `--${name} must be a whole number from ${least} to 65535, not "${text}"`;
  throw new UserError('usage', what, `Write, say, --${name} ${name === 'rank' ? '0' : '8888'}`);
}
