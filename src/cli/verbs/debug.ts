import { exitCodes } from '../../core/base/errors.js';
import { DebugTunnel } from '../../core/tunnels/debugTunnel.js';
import type { Verb } from '../context.js';
import { untilSignal } from '../signals.js';

export const debug: Verb = {
  verb: 'debug',
  summary: 'until Ctrl-C, a tunnel from 127.0.0.1:5678 to the rank that waits for a debugger',
  words: ['RUN'],
  flags: [
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    [
      'RUN was started with run --debug RANK. It prints what to put into launch.json of VS Code.',
      'Any other client of debugpy may attach to the address too.',
      'Where port 5678 is taken here, it is the next free one.',
    ].join(' '),
    [
      'The run goes on when the debugger has attached.',
      'After a restart of the run the same address leads to the new process.',
    ].join(' '),
  ],
  async run(context, args) {
    const { dir, id } = await context.resolveRun(args);
    const { machine, logger, output } = context;
    const tunnel = await context.withProgress((progress) =>
      DebugTunnel.open(machine, dir, { ...progress, logger }),
    );
    try {
      const { configuration, forward, waiting } = tunnel;
      const { rank, host } = waiting;
      if (context.json) {
        output.json({ type: 'debugger', id, dir, rank, host, port: forward.port, configuration });
      } else {
        output.line(`${forward.local} leads to ${forward.remote}  (Ctrl-C ends the tunnel)`);
        output.line('');
        output.line('"configurations" of .vscode/launch.json:');
        for (const line of JSON.stringify(configuration, undefined, 2).split('\n')) output.line(line);
      }
      await untilSignal();
    } finally {
      tunnel.dispose();
    }
    return exitCodes.done;
  },
};
