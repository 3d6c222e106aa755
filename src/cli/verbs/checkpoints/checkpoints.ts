import { exitCodes } from '../../../core/base/errors.js';
import { OverviewReader } from '../../../core/follow/overview.js';
import { otherImagesText } from '../../../core/model/countedEvaluations.js';
import type { Verb } from '../../context.js';
import { bytesText, percentText, table, timeText } from '../../format.js';

/** Hashing a large checkpoint takes its time. */
const verifyTimeout = 30 * 60_000;

export const checkpoints: Verb = {
  verb: 'checkpoints',
  summary: "lists a run's checkpoints",
  words: ['RUN'],
  flags: [
    { name: 'verify', help: 'read every file and compare its SHA-256, not only its size' },
    {
      name: 'profile',
      value: 'P',
      help: 'whose runs; by default the profile that started RUN here, else local',
    },
  ],
  details: ['Exits 5 when --verify finds one that is not valid.'],
  async run(context, args) {
    const entry = await context.resolveRun(args);
    const { dir } = entry;
    const verify = args.has('verify');
    const client = await context.node.client();
    const { checkpoints } = await client.request(
      'checkpoint.list',
      { dir, verify },
      { timeout: verifyTimeout },
    );
    const { best, top1At, otherAt } = await new OverviewReader().read(client, entry);
    if (context.json) {
      for (const checkpoint of checkpoints) {
        const top1 = top1At(checkpoint.step);
        context.output.json({ type: 'checkpoint', ...checkpoint, ...(top1 === undefined ? {} : { top1 }) });
      }
    } else if (checkpoints.length === 0) {
      context.output.note('no checkpoints yet');
    } else {
      const accuracy = (step: number): string => {
        const [top1, other] = [top1At(step), otherAt(step)];
        const mark = best?.step === step ? ' best' : '';
        if (top1 !== undefined) return percentText(top1) + mark;
        return other === undefined ? '' : `${percentText(other.top1)} ${otherImagesText(other)}`;
      };
      const rows = checkpoints.map(({ step, path, bytes, time, valid, reason }) => {
        const state = valid ? (verify ? 'verified' : 'valid') : `not valid: ${reason ?? 'unknown'}`;
        return [String(step), accuracy(step), bytesText(bytes), timeText(time), state, path];
      });
      for (const line of table(['STEP', 'TOP-1', 'SIZE', 'WRITTEN', 'STATE', 'PATH'], rows, [0, 2])) {
        context.output.line(line);
      }
    }
    return verify && checkpoints.some(({ valid }) => !valid) ? exitCodes.failed : exitCodes.done;
  },
};
