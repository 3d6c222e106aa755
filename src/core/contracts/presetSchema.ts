// What a workspace keeps: presets, as docs/contracts/presets.md fixes them, and profiles. This is
// the source of media/presets.schema.json.
import * as z from 'zod/mini';
import { profileSchema } from './profileSchema.js';
import { slurmWishSchema } from './slurmSchema.js';

const about = <T>(text: string): z.core.$ZodCheck<T> => z.describe<T>(text);
const optional = z.optional;
const word = z.string().check(
  z.regex(/^[^\p{Cc}]+$/u, {
    error: 'must not be empty or contain line breaks or other control characters',
  }),
);
const positive = z.int().check(z.gte(1));

/** A field, the one that it cannot stand beside, and why. */
const apart = [
  { field: 'nodes', other: 'hosts', why: 'which are all that the run takes' },
  { field: 'cwd', other: 'code', why: 'in which the program starts' },
] as const;
const apartText = ({ other, why }: (typeof apart)[number]): string =>
  `cannot stand beside "${other}", ${why}`;

/** One entry of the file. */
export const presetSchema = z
  .strictObject({
    name: z.string().check(
      z.regex(/^[^\s\p{Cc}][^\p{Cc}]{0,63}$/u, {
        error: 'must be 1 to 64 characters, without a blank at the front',
      }),
      about('What the preset is called. Each name stands once.'),
    ),
    profile: optional(word.check(about('Where the run goes. Left out: the profile that is chosen.'))),
    command: word.check(
      about('What runs: a verb of the trainer with its flags, or any command. Quotes keep words together.'),
    ),
    ranks: optional(positive.check(about('How many processes.'))),
    nodes: optional(positive.check(about('How many hosts of the profile. Left out: all.'))),
    hosts: optional(
      z
        .array(word)
        .check(z.minLength(1), about('Only these hosts of the profile, in place of a number of nodes.')),
    ),
    per: optional(
      z
        .enum(['slot', 'node'])
        .check(about('Of an own program: one process for each slot, or one for each node.')),
    ),
    gpus: optional(
      z.union([positive, word]).check(about('Of each node: any 2 free GPUs (2), or these ("0,2").')),
    ),
    wait: optional(z.boolean().check(about('Wait in the queue for GPUs that are held.'))),
    budget: optional(
      z.number().check(z.gt(0), about("What the run may cost, in the profile's currency; it needs a price.")),
    ),
    budgetStop: optional(
      z.boolean().check(about('Whether the run stops after a checkpoint once its budget is spent.')),
    ),
    timeLimit: optional(
      word.check(
        about('How long a start may take, for example 90s, 30m, 2h or 1d. It then stops after a checkpoint.'),
      ),
    ),
    silenceTimeout: optional(
      word.check(
        about(
          'Of an own program: after how long without a line or a figure it counts as hung, for example 10m. 0: never.',
        ),
      ),
    ),
    share: optional(
      word.check(
        about(
          "Of an own program: the folder, relative to the run's folder, that the other nodes get from the head before each start.",
        ),
      ),
    ),
    requirements: optional(
      word.check(
        about(
          'Of an own program: a requirements file of pip, pyproject.toml, pylock.toml or uv.lock. Each node gets its Python packages before the start, in the versions that the head finds where the file leaves them open.',
        ),
      ),
    ),
    slurm: optional(
      slurmWishSchema.check(about('What is asked of Slurm, in place of what the profile says.')),
    ),
    tensorboard: optional(z.boolean().check(about('Serve TensorBoard with the run.'))),
    evaluator: optional(z.boolean().check(about('False: checkpoints are not evaluated while training.'))),
    runName: optional(word.check(about('What the run is called.'))),
    tags: optional(z.array(word).check(about('Words to find the run by.'))),
    notes: optional(z.string().check(about('What the run is for.'))),
    code: optional(
      word.check(about('A folder that goes along to the nodes; relative to the folder of the workspace.')),
    ),
    cwd: optional(
      word.check(
        about('Where an own program starts on this machine; relative to the folder of the workspace.'),
      ),
    ),
    logdir: optional(word.check(about('A further folder with event files of an own program.'))),
    stage: optional(
      word.check(
        about("FROM:TO. The head's folder FROM is put on each node's own disk as TO before the run."),
      ),
    ),
  })
  .check(
    z.superRefine((preset, context) => {
      for (const rule of apart) {
        const { [rule.field]: input, [rule.other]: other } = preset;
        if (input === undefined || other === undefined) continue;
        context.addIssue({ code: 'custom', path: [rule.field], message: apartText(rule), input });
      }
    }),
    // The same for editors, which underline the field then. VS Code alone knows errorMessage.
    z.meta({
      dependencies: Object.fromEntries(
        apart.map((rule) => [
          rule.other,
          { properties: { [rule.field]: false }, errorMessage: apartText(rule) },
        ]),
      ),
    }),
  );
/** One run that a workspace keeps, as it stands in the file. */
export type Preset = z.infer<typeof presetSchema>;

/** The file `.vscode/trainyard.json`. */
export const workspaceFileSchema = z
  .strictObject({
    $schema: optional(z.string()),
    version: z.literal(1).check(about('Of the format of this file.')),
    profiles: optional(
      z
        .array(profileSchema)
        .check(about('Clusters of this workspace. Nothing uses one before somebody has imported it.')),
    ),
    presets: optional(z.array(presetSchema).check(about('Runs that this workspace keeps.'))),
  })
  .check(
    z.superRefine((file, context) => {
      for (const list of ['profiles', 'presets'] as const) {
        const entries: readonly { name: string }[] = file[list] ?? [];
        for (const [index, { name }] of entries.entries()) {
          if (entries.findIndex((other) => other.name === name) === index) continue;
          const message = `"${name}" stands there twice`;
          context.addIssue({ code: 'custom', path: [list, index, 'name'], message, input: name });
        }
      }
    }),
  );
/** What a workspace keeps. */
export type WorkspaceContents = z.infer<typeof workspaceFileSchema>;

/** For editors: completion and hover. */
export function presetsJsonSchema(): object {
  return {
    ...z.toJSONSchema(workspaceFileSchema, { io: 'input', target: 'draft-7' }),
    title: 'Trainyard presets and profiles of a workspace',
  };
}
