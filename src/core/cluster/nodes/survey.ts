// One look at the nodes that a task needs, and the programs that they then get. Every channel to a
// node costs it a start of Python, so a node is looked at once.
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Progress } from '../../base/progress.js';
import type { CheckResult } from '../../base/checks.js';
import type { Probe } from '../../setup/probe.js';
import type { NodeRuntime } from '../../setup/runtime.js';
import type { Bootstrap } from '../../setup/bootstrap.js';
import type { Packages } from '../../setup/packages.js';
import type { SshNode } from './sshNode.js';

/** What one look at a node found. */
export interface Finding {
  node: SshNode;
  probe: Probe;
  results: CheckResult[];
}

interface SurveyOptions {
  wantsGpu: boolean;
  /** Is told which nodes other than the head cannot be asked; without it that is thrown. */
  onTrouble?: (node: SshNode, error: unknown) => void;
  /** Channels that are there already, and stay. */
  channelOf?: (node: SshNode) => Promise<Bootstrap>;
}

/** Nodes as they were found. */
export class Survey {
  private constructor(
    private readonly head: SshNode,
    readonly findings: readonly Finding[],
  ) {}

  /**
   * Looks at the head and at `nodes`, of which the head may be one. The head leaves a token in
   * `workdir` for as long as that takes. So it shows which of the others share its home folder.
   * UserError (preflight, connection). With `onTrouble`, nodes other than the head that cannot be
   * asked are left out.
   */
  static async of(
    { head, workdir }: { head: SshNode; workdir: string },
    nodes: readonly SshNode[],
    { wantsGpu, onTrouble, channelOf }: SurveyOptions,
  ): Promise<Survey> {
    const token = randomBytes(8).toString('hex');
    const on = async <T>(node: SshNode, task: (channel: Bootstrap) => Promise<T>): Promise<T> =>
      channelOf ? task(await channelOf(node)) : node.withBootstrap(task);
    return on(head, async (channel) => {
      const ofHead = await head.probeBy(channel, { token, leaveToken: true, hashAll: true });
      try {
        const look = async (node: SshNode): Promise<Finding> => {
          const probing = (own: Bootstrap): Promise<Probe> => node.probeBy(own, { token, hashAll: true });
          const probe = node === head ? ofHead : await on(node, probing);
          return { node, probe, results: node.judge(probe, wantsGpu) };
        };
        const findings = await Promise.all(
          nodes.map(async (node) => {
            if (!onTrouble) return [await look(node)];
            try {
              return [await look(node)];
            } catch (error) {
              onTrouble(node, error);
              return [];
            }
          }),
        );
        return new Survey(head, findings.flat());
      } finally {
        await channel.request('forget', { workdir, token }, z.unknown());
      }
    });
  }

  get results(): CheckResult[] {
    return this.findings.flatMap(({ results }) => results);
  }

  /**
   * Puts programs and runtime on the nodes that lack them; with `cuda`, NVIDIA's libraries too. The
   * head goes first where nodes share its home folder: they then find everything there. UserError
   * (preflight, connection), Cancelled.
   */
  async prepare(
    packages: Packages,
    progress: Progress,
    cuda = false,
  ): Promise<ReadonlyMap<SshNode, NodeRuntime>> {
    const { head, runtimes } = this.begin(this.findings, packages, progress, cuda);
    const made = [...runtimes].map(async ([node, runtime]) => [node, await runtime] as const);
    const [all] = await Promise.all([Promise.all(made), head]);
    return new Map(all);
  }

  /** The same of these nodes and the head, each with an outcome of its own. */
  preparations(
    nodes: readonly SshNode[],
    packages: Packages,
    progress: Progress,
  ): ReadonlyMap<SshNode, Promise<NodeRuntime>> {
    const wanted = this.findings.filter(({ node }) => nodes.includes(node));
    const { head, runtimes } = this.begin(wanted, packages, progress, false);
    return new Map([[this.head, head], ...runtimes]);
  }

  private begin(
    wanted: readonly Finding[],
    packages: Packages,
    progress: Progress,
    cuda: boolean,
  ): { head: Promise<NodeRuntime>; runtimes: Map<SshNode, Promise<NodeRuntime>> } {
    const ofHead = this.findings.find(({ node }) => node === this.head)?.probe;
    const head = prepareOne(this.head, packages, progress, { cuda, found: ofHead });
    const each = async ({ node, probe }: Finding): Promise<NodeRuntime> => {
      if (node === this.head) return head;
      if (probe.sharesToken === true) await head;
      return prepareOne(node, packages, progress, { cuda, found: probe });
    };
    return { head, runtimes: new Map(wanted.map((finding) => [finding.node, each(finding)])) };
  }
}

function prepareOne(
  node: SshNode,
  packages: Packages,
  { onProgress, signal }: Progress,
  wanted: { cuda: boolean; found: Probe | undefined },
): Promise<NodeRuntime> {
  const own = {
    onProgress: (text: string) => onProgress?.(`${node.name}: ${text}`),
    ...(signal ? { signal } : {}),
  };
  return node.prepare(packages, own, wanted);
}
