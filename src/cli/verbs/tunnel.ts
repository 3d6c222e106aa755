import { SshMachine } from '../../core/clusters/sshMachine.js';
import { exitCodes, UserError } from '../../core/errors.js';
import { PortForward } from '../../core/tunnels/portForward.js';
import { bytesText } from '../format.js';
import { untilSignal } from '../signals.js';
import type { Verb } from '../context.js';

const form = /^(?:([^/\s]+)\/)?(\d{1,5}):(?:([^:\s]+):)?(\d{1,5})$/;

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
    const { machine } = context;
    const found = form.exec(args.words[1] ?? '');
    const [, host, local = '', address = '127.0.0.1', remote = ''] = found ?? [];
    const ports = [Number(local), Number(remote)];
    if (!found || ports.some((port) => port < 1 || port > 65535)) {
      throw new UserError(
        'usage',
        `${args.words[1] ?? ''} names no two ports`,
        'Write LOCAL:REMOTE, for example 6006:6006',
      );
    }
    if (!(machine instanceof SshMachine)) {
      throw new UserError('usage', `profile ${profile.name} is this machine`, 'Its ports are here already');
    }
    const [node] = machine.select(host === undefined ? undefined : [host]);
    if (!node) throw new TypeError('a cluster has nodes');
    await node.connection();
    const forward = await PortForward.open({
      port: Number(local),
      connect: async () => (await node.connection()).forwardTcp(address, Number(remote)),
      remote: `${node.name} ${address}:${remote}`,
      logger: context.logger,
    });
    try {
      const taken = forward.port === Number(local) ? '' : ` (${local} is taken)`;
      if (context.json) {
        context.output.json({
          type: 'tunnel',
          local: forward.local,
          port: forward.port,
          remote: forward.remote,
        });
      } else {
        context.output.line(`${forward.local} leads to ${forward.remote}${taken}  (Ctrl-C ends the tunnel)`);
      }
      await untilSignal();
      context.output.note(`${bytesText(forward.bytesOut)} out, ${bytesText(forward.bytesIn)} in`);
    } finally {
      forward.dispose();
    }
    return exitCodes.done;
  },
};
