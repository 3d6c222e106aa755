import { exitCodes } from '../../core/base/errors.js';
import { tensorboardIdle, TensorBoards } from '../../core/tunnels/tensorboard.js';
import type { Verb } from '../context.js';
import { untilSignal } from '../signals.js';
import { adviceText } from '../remedies.js';

export const tensorboard: Verb = {
  verb: 'tensorboard',
  summary: "serves a run's plots at 127.0.0.1:6006, or the next free port, until Ctrl-C",
  words: ['RUN'],
  flags: [
    { name: 'stop', help: 'end the TensorBoard of this run instead' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: [
    `TensorBoard itself listens on a private Unix socket, and ends after ${tensorboardIdle / 60} minutes without a request.`,
  ],
  async run(context, args) {
    const { dir, id } = await context.resolveRun(args);
    const boards = new TensorBoards({
      logger: context.logger,
      howToOpen: adviceText({ kind: 'openTensorBoard' }),
    });
    try {
      if (args.has('stop')) {
        await boards.stop(context.machine, dir);
        return exitCodes.done;
      }
      const bridge = await context.withProgress((progress) => boards.open(context.machine, dir, progress));
      if (context.json) {
        context.output.json({ type: 'tensorboard', id, dir, url: bridge.url, port: bridge.port });
      } else context.output.line(`${bridge.url}  (Ctrl-C ends the tunnel)`);
      await untilSignal();
    } finally {
      boards.dispose();
    }
    return exitCodes.done;
  },
};
