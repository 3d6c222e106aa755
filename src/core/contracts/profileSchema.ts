// The profile, and the file that holds profiles. This is the source of media/profiles.schema.json.
import * as z from 'zod/mini';
import { portRangeText } from './ports.js';
import { notifyProfileSchema } from './notifySchema.js';
import { shareProblem, trimmedShare } from './share.js';
import { slurmProfileSchema } from './slurmSchema.js';

const about = <T>(text: string): z.core.$ZodCheck<T> => z.describe<T>(text);
const optional = z.optional;

const nameText = z.string().check(
  z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, {
    error: 'must be 1 to 64 letters, digits, dots, dashes or underscores, and start with a letter or digit',
  }),
);
/** Never with a leading dash, a blank or a control character: it stands on command lines. */
const plainWord = z.string().check(
  z.regex(/^[^\s\p{Cc}-][^\s\p{Cc}]*$/u, {
    error: 'must not be empty, start with a dash or contain blanks',
  }),
);
/** A line break in it would end a line of what launches the ranks. */
const path = z.string().check(
  z.regex(/^[^\p{Cc}]+$/u, {
    error: 'must not be empty or contain line breaks or other control characters',
  }),
);
/** What the system can hand to a program. */
const variable = z.string().check(
  // eslint-disable-next-line no-control-regex -- it is the one character that cannot be in it
  z.regex(/^[^\u0000]*$/, { error: 'must not contain a zero character' }),
);
const positive = z.int().check(z.gte(1));

const hostSchema = z.strictObject({
  host: plainWord.check(about('Name or address, as you reach it; an alias of your SSH configuration works.')),
  address: optional(
    plainWord.check(
      about(
        'How the other nodes reach this one, when that is not what your SSH configuration has for the host.',
      ),
    ),
  ),
  port: optional(z.int().check(z.gte(1), z.lte(65535), about('SSH port.'))),
  user: optional(plainWord.check(about('User name on the node.'))),
  slots: optional(
    z
      .int()
      .check(
        z.gte(0),
        about(
          'Ranks on this node; 0 on a head that only holds runs. Left out: its listed GPUs, else all its GPUs.',
        ),
      ),
  ),
  gpus: optional(
    z
      .array(z.int().check(z.gte(0)))
      .check(z.minLength(1), about('GPUs to use on this node, in the order in which ranks take them.')),
  ),
  tasks: optional(
    z
      .array(
        z.string().check(
          z.regex(/^(chief|worker|ps|evaluator)(:\d{1,5})?$/, {
            error: 'must be chief, worker, ps or evaluator, alone or with a port: ps:2222',
          }),
        ),
      )
      .check(
        z.minLength(1),
        about('Tasks in TF_CONFIG of the processes on this node, in their order, for example `ps:2222`.'),
      ),
  ),
  identityFile: optional(
    path.check(about('Private key to offer. Its passphrase never stands in this file.')),
  ),
  proxyJump: optional(plainWord.check(about('Jump host, or several separated by commas.'))),
});

/**
 * A folder on a node, which may name the host that it lies on, `HOST:PATH`; or an address, as
 * `isAddress` (stage/spec.ts) knows it.
 */
const placedPath = z.string().check(
  z.regex(/^(?:(?:[^/~:][^/:]*:)?[/~][^\p{Cc}]*|(?:s3|https?):\/\/[^\p{Cc}]+)$/u, {
    error:
      'must be a path of the head with a leading / or ~/, HOST: and such a path, or an address (s3://, https://)',
  }),
);
const ownPath = z
  .string()
  .check(z.regex(/^[/~][^\p{Cc}]*$/u, { error: 'must be a path of each node, with a leading / or ~/' }));

/**
 * One profile. What zod cannot say field by field (one host a name, the head among the hosts,
 * ranges) is checked at the end.
 */
export const profileSchema = z
  .strictObject({
    name: nameText.check(about('How you call this profile.')),
    kind: z
      .enum(['local', 'ssh', 'slurm'])
      .check(about('Where its runs go: this machine, hosts reached by SSH, or a Slurm cluster.')),
    hosts: optional(z.array(hostSchema).check(about('The nodes. For `local`, at most one entry.'))),
    head: optional(
      plainWord.check(about('The host on which runs live and are supervised. Left out: the first.')),
    ),
    workdir: optional(path.check(about('Folder for runs on the node. Left out: `~/.trainyard`.'))),
    interface: optional(
      plainWord.check(about('Network interface of the ranks, or `auto`. That network must be private.')),
    ),
    portRange: optional(
      z
        .string()
        .check(
          z.regex(portRangeText, { error: 'must read FIRST-LAST, for example 47000-47100' }),
          about('Ports that joins, offers of files and MPI take on the nodes.'),
        ),
    ),
    transport: optional(z.enum(['auto', 'ssh2', 'openssh']).check(about('How this machine speaks SSH.'))),
    launcher: optional(
      z
        .enum(['auto', 'manual', 'ssh'])
        .check(
          about(
            'How the nodes are reached: each from here (auto, manual), or, all but the head, by the own ssh of the head with the keys that lie there (ssh).',
          ),
        ),
    ),
    slurm: optional(slurmProfileSchema.check(about('What a `slurm` profile asks of the queue.'))),
    hangTimeout: optional(
      positive.check(about('Seconds without a heartbeat after which a rank counts as hung. Default 300.')),
    ),
    env: optional(
      z
        .record(z.string().check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/)), variable)
        .check(about('Environment of the ranks. No secrets: it is stored with every run.')),
    ),
    prologue: optional(
      z.string().check(
        z.minLength(1),
        // eslint-disable-next-line no-control-regex -- it is the one character that cannot be in it
        z.regex(/^[^\u0000]*$/, { error: 'must not contain a zero character' }),
        about(
          'Shell text that `bash -l` runs on the node before each process, for example `module load cuda`.',
        ),
      ),
    ),
    stage: optional(
      z
        .strictObject({
          from: placedPath.check(
            about(
              'Folder as the head sees it, HOST: and a folder of that host, or s3:// or https:// address.',
            ),
          ),
          to: ownPath.check(about("Folder on each node's own disk.")),
        })
        .check(about("What is put on each node's own disk before a run starts there.")),
    ),
    train: optional(
      z
        .strictObject({
          ranks: optional(positive.check(about('Ranks of a training that does not say how many.'))),
          flags: optional(
            z
              .array(path)
              .check(
                z.minLength(1),
                about('Flags of the trainer, a word each: a training that gives the same flag goes before.'),
              ),
          ),
          why: optional(path.check(about('Where these come from, in one line.'))),
        })
        .check(about('What a training has that does not say otherwise, as a bake-off found it.')),
    ),
    silenceTimeout: optional(
      z
        .int()
        .check(
          z.gte(0),
          about(
            'Seconds without a line in the log of any rank, and without a figure, after which an own program counts as hung. Left out, or 0: never.',
          ),
        ),
    ),
    share: optional(
      z.string().check(
        z.superRefine((text, context) => {
          const problem = shareProblem(trimmedShare(text));
          if (!problem) return;
          context.addIssue({ code: 'custom', path: [], message: problem.what, input: text });
        }),
        about(
          "Folder of an own program, relative to the run's folder, that the run's other nodes get from the head before each start, for example `checkpoints`.",
        ),
      ),
    ),
    stopGrace: optional(
      positive.check(
        about('Seconds between SIGTERM and SIGKILL when an own program is stopped. Default 30.'),
      ),
    ),
    minNodes: optional(positive.check(about('Fewest nodes with which a run goes on.'))),
    maxNodes: optional(positive.check(about('Most nodes a run takes.'))),
    spares: optional(
      z
        .int()
        .check(
          z.gte(0),
          about(
            'Nodes of a run that hold no rank, and wait to take the place of a lost one at once. Default 0.',
          ),
        ),
    ),
    mirror: optional(
      z
        .string()
        .check(
          z.minLength(1),
          about(
            'The host that keeps a copy of the folder of each run, so that the run can go on there when the head is lost.',
          ),
        ),
    ),
    nodeReturnTimeout: optional(
      positive.check(
        about(
          'Seconds for which a restart waits for a lost node. Where minNodes are left, it goes on without the node after 30 s. Default 600.',
        ),
      ),
    ),
    maxRestarts: optional(
      z.int().check(z.gte(0), about('Restarts after a failure. Default: the number of spares, else 0.')),
    ),
    notify: optional(notifyProfileSchema.check(about('Where the head sends messages about its runs.'))),
    pricePerNodeHour: optional(
      z.number().check(z.gte(0), about('Price of one node for one hour. Runs then show what they cost.')),
    ),
    pricePerGpuHour: optional(
      z
        .number()
        .check(z.gte(0), about('Price of one GPU that a run holds for one hour, in place of a node price.')),
    ),
    currency: optional(
      z
        .string()
        .check(
          z.regex(/^[A-Z]{3}$/, { error: 'must be three capital letters (ISO 4217), for example EUR' }),
          about('Currency of the price, three letters. Default USD.'),
        ),
    ),
    budget: optional(
      z
        .number()
        .check(z.gt(0), about('What a run may cost, in the currency of the price. The run warns before.')),
    ),
    budgetWarning: optional(
      z.number().check(z.gt(0), z.lte(1), about('Share of the budget at which a run warns. Default 0.8.')),
    ),
    budgetStop: optional(
      z.boolean().check(about('Whether a run stops after a checkpoint once its budget is spent.')),
    ),
  })
  .check(
    z.superRefine((profile, context) => {
      const problem = (path: (string | number)[], message: string): void => {
        context.addIssue({ code: 'custom', path, message, input: profile });
      };
      const hosts = profile.hosts ?? [];
      if (profile.kind !== 'local' && hosts.length === 0) {
        problem(['hosts'], `a profile of kind ${profile.kind} needs at least one host`);
      }
      if (profile.kind === 'local' && hosts.length > 1) {
        problem(['hosts'], 'a profile of kind local has one host, this machine');
      }
      const head = hosts.find(({ host }) => host === profile.head) ?? hosts[0];
      hosts.forEach(({ host, slots, gpus, tasks }, index) => {
        if (slots === 0 && (profile.kind !== 'ssh' || host !== head?.host)) {
          const who = profile.kind === 'ssh' ? 'of a host that is not the head' : `with kind ${profile.kind}`;
          problem(['hosts', index, 'slots'], `must be at least 1 ${who}`);
        } else if (slots === 0 && hosts.length === 1) {
          problem(['hosts', index, 'slots'], 'must be at least 1 where no other host takes the ranks');
        }
        if (hosts.findIndex((other) => other.host === host) !== index) {
          problem(['hosts', index, 'host'], `${host} is listed twice`);
        }
        for (const [place, task] of (tasks ?? []).entries()) {
          const port = Number(task.split(':')[1] ?? 1);
          if (port < 1 || port > 65535) {
            problem(['hosts', index, 'tasks', place], 'the port must lie between 1 and 65535');
          }
        }
        if (gpus && new Set(gpus).size !== gpus.length) {
          problem(['hosts', index, 'gpus'], 'a GPU is listed twice');
        }
      });
      if (profile.head !== undefined && !hosts.some(({ host }) => host === profile.head)) {
        problem(['head'], `${profile.head} is not one of the hosts`);
      }
      const [first] = profile.train?.flags ?? [];
      if (first?.startsWith('--') === false) {
        problem(['train', 'flags', 0], 'must be a flag of the trainer, with its dashes');
      }
      for (const [at, word] of (profile.train?.flags ?? []).entries()) {
        if (/^--(run-dir|resume)(=|$)/.test(word)) {
          problem(['train', 'flags', at], 'must not name the folder or the checkpoint of a run');
        }
      }
      const { mirror } = profile;
      if (mirror !== undefined && profile.kind !== 'ssh') {
        problem(['mirror'], `is for profiles of kind ssh, not ${profile.kind}`);
      } else if (mirror !== undefined && !hosts.some(({ host }) => host === mirror)) {
        problem(['mirror'], `${mirror} is not one of the hosts`);
      } else if (mirror !== undefined && mirror === head?.host) {
        problem(['mirror'], `${mirror} is the head, which has the folders of the runs itself`);
      }
      const { minNodes, maxNodes, spares = 0 } = profile;
      if (spares > 0 && profile.kind !== 'ssh') {
        problem(['spares'], `is for profiles of kind ssh, not ${profile.kind}`);
      } else if (spares > 0 && spares >= hosts.length - 1) {
        const most = Math.max(0, hosts.length - 2);
        problem(
          ['spares'],
          `must be at most ${most}: two of the ${hosts.length} hosts are the head and a node that a spare can replace`,
        );
      }
      if (minNodes !== undefined && maxNodes !== undefined && minNodes > maxNodes) {
        problem(['minNodes'], 'must not exceed maxNodes');
      }
      if (profile.pricePerNodeHour !== undefined && profile.pricePerGpuHour !== undefined) {
        problem(['pricePerGpuHour'], 'give a price per node or per GPU, not both');
      }
      if (
        profile.budget !== undefined &&
        profile.pricePerNodeHour === undefined &&
        profile.pricePerGpuHour === undefined
      ) {
        problem(['budget'], 'needs a price: pricePerNodeHour or pricePerGpuHour');
      }
      const range = portRangeText.exec(profile.portRange ?? '');
      if (
        range &&
        (Number(range[1]) < 1024 || Number(range[1]) > Number(range[2]) || Number(range[2]) > 65535)
      ) {
        problem(['portRange'], 'must lie between 1024 and 65535, the first not above the last');
      }
    }),
  );

/** The whole of profiles.json: profiles of different names. */
export const profilesFileSchema = z.strictObject({
  $schema: optional(z.string()),
  version: z.literal(1).check(about('Version of this format.')),
  profiles: z.array(profileSchema).check(
    z.superRefine((profiles, context) => {
      profiles.forEach(({ name }, index) => {
        if (profiles.findIndex((other) => other.name === name) === index) return;
        const message = `there is more than one profile named ${name}`;
        context.addIssue({ code: 'custom', path: [index, 'name'], message, input: profiles });
      });
    }),
  ),
});

/** A node as a profile names it. */
export type Host = z.infer<typeof hostSchema>;
/** Where runs go, and on what terms. `hangTimeout` and `nodeReturnTimeout` are in seconds. */
export type Profile = z.infer<typeof profileSchema>;

/** The profile that is there without any file: this machine. */
export const localProfile: Profile = { name: 'local', kind: 'local' };

/** The JSON schema that gives an editor hover and completion for profiles.json. */
export function profilesJsonSchema(): object {
  return {
    ...z.toJSONSchema(profilesFileSchema, { io: 'input', target: 'draft-7' }),
    title: 'Trainyard profiles',
  };
}
