import { demandCluster } from '../../../core/cluster/demandCluster.js';
import { exitCodes } from '../../../core/base/errors.js';
import type { Verb } from '../../context.js';

export const trust: Verb = {
  verb: 'trust',
  summary: "shows the keys of a cluster's hosts that are not known yet, all at once, and remembers them",
  words: ['P'],
  flags: [{ name: 'yes', help: 'without asking: only where nobody can stand between you and the hosts' }],
  details: [
    'A key that changed is never accepted here: remove each line that the error names first (ssh-keygen -R HOST -f FILE).',
  ],
  async run(context, args) {
    const profile = await context.profile(args.words[0], { trustAll: args.has('yes') });
    const machine = demandCluster(context.machine, profile, 'It has no host keys');
    await context.withProgress(({ signal }) => machine.connectAll(signal));
    const hosts = machine.nodes.map(({ name }) => name);
    if (context.json) context.output.json({ type: 'trusted', hosts });
    else context.output.line(`known and connected: ${hosts.join(', ')}`);
    return exitCodes.done;
  },
};
