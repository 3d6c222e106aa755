// `notify` of a profile and of run.json: where the head sends messages about a run.
import * as z from 'zod/mini';

const about = <T>(text: string): z.core.$ZodCheck<T> => z.describe<T>(text);
const optional = z.optional;

/** What there are messages of; without a choice all of them are sent. */
export const notifyKinds = ['finished', 'failed', 'stopped', 'restarting', 'stalled', 'budget'] as const;

const kinds = z.array(z.enum(notifyKinds)).check(z.minLength(1));
/** What the system can hand to a program. */
const word = z.string().check(
  // eslint-disable-next-line no-control-regex -- it is the one character that cannot be in it
  z.regex(/^[^\u0000]+$/, { error: 'must not be empty or contain a zero character' }),
);
const argv = z.array(word).check(z.minLength(1));

/** `notify` of a profile. */
export const notifyProfileSchema = z
  .strictObject({
    command: optional(
      argv.check(
        about('Program of the head and its arguments, a word each; it gets the message as JSON on stdin.'),
      ),
    ),
    webhookFile: optional(
      z
        .string()
        .check(
          z.regex(/^[/~][^\p{Cc}]*$/u, { error: 'must be a path of the head, with a leading / or ~/' }),
          about(
            'File on the head, which you alone can read, whose first word is the address to send to. The address itself, which is a secret, stands nowhere else.',
          ),
        ),
    ),
    on: optional(kinds.check(about('What messages are sent of. Left out: all.'))),
  })
  .check(
    z.superRefine(({ command, webhookFile }, context) => {
      if (command !== undefined || webhookFile !== undefined) return;
      context.addIssue({
        code: 'custom',
        path: [],
        message: 'needs a command, a webhookFile or both',
        input: undefined,
      });
    }),
  );

/** `notify` of run.json: of which kinds is always said there. */
export const notifyRecordSchema = z.object({
  command: optional(argv),
  webhookFile: optional(z.string()),
  on: kinds,
});
