import { exitCodes } from '../../core/base/errors.js';
import type { Verb } from '../context.js';
import { serve } from '../mcp/serve.js';
import { endingSignals } from '../signals.js';

export const mcp: Verb = {
  verb: 'mcp',
  summary: 'serves the tools of an AI assistant over stdin and stdout (Model Context Protocol)',
  words: [],
  flags: [
    {
      name: 'allow-start',
      help: 'start, resume and stop runs without asking, where the assistant cannot ask you',
    },
  ],
  details: [
    'An assistant starts this program; by hand it only waits. Its tools list profiles and runs, read figures and logs, check and compare. Starting, resuming and stopping a run needs your confirmation each time.',
    'Passwords, passphrases and unknown host keys are never asked here: use a key agent, and connect once in a terminal with trainyard trust P.',
  ],
  async run(context, args) {
    const abort = new AbortController();
    const end = (): void => {
      abort.abort();
    };
    for (const signal of endingSignals) process.once(signal, end);
    const host = context.quietHost();
    try {
      await serve(host, args.has('allow-start'), abort.signal);
      return exitCodes.done;
    } finally {
      host.dispose();
      for (const signal of endingSignals) process.off(signal, end);
    }
  },
};
