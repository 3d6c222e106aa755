import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { exitCodes } from '../../../core/base/errors.js';
import { Tunnels } from '../../../core/tunnels/tunnels.js';
import { parseTunnel } from '../../../core/tunnels/tunnelSpec.js';
import type { Verb } from '../../context.js';
import { bytesText } from '../../format.js';
import { untilSignal } from '../../signals.js';

export const tunnel: Verb = {
  verb: 'tunnel',
  summary: 'brings a port of a host to 127.0.0.1, until Ctrl-C',
  words: ['P', 'LOCAL:REMOTE'],
  flags: [],
  details: [
    'LOCAL:REMOTE is a port here and one on the head; HOST/LOCAL:REMOTE is one on another host, LOCAL:ADDRESS:REMOTE one that the host reaches.',
    'When LOCAL is taken, the next free port is used and printed. It listens on 127.0.0.1 only, and comes back by itself after a cut.',
  ],
  async run(context, args) {
    const profile = await context.profile(args.words[0]);
    const spec = parseTunnel(args.words[1] ?? '');
    const machine = demandCluster(context.machine, profile, 'Its ports are here already');
    const tunnels = new Tunnels(machine, context.logger);
    try {
      const { forward } = await context.withProgress(({ signal }) => tunnels.open(spec, signal));
      const { local, port, remote } = forward;
      if (context.json) context.output.json({ type: 'tunnel', local, port, remote });
      else {
        const taken = port === spec.local ? '' : ` (${spec.local} is taken)`;
        context.output.line(`${local} leads to ${remote}${taken}  (Ctrl-C ends the tunnel)`);
      }
      await untilSignal();
      context.output.note(`${bytesText(forward.bytesOut)} out, ${bytesText(forward.bytesIn)} in`);
    } finally {
      tunnels.dispose();
    }
    return exitCodes.done;
  },
};
