// One look at the nodes that a task needs, and the programs that they then get. Every channel to a
// node costs it a start of Python, so a node is looked at once.
import { randomBytes } from 'node:crypto';
import * as z from 'zod/mini';
import type { Progress } from '../base/progress.js';
import type { CheckResult } from '../base/checks.js';
import type { Probe } from '../setup/probe.js';
import type { NodeRuntime } from '../setup/runtime.js';
import type { Packages } from '../setup/packages.js';
import type { SshNode } from './sshNode.js';

/** What one look at a node found. */
export interface Finding {
  node: SshNode;
  probe: Probe;
  results: CheckResult[];
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
   * UserError (preflight, connection).
   */
  static async of(
    { head, workdir }: { head: SshNode; workdir: string },
    nodes: readonly SshNode[],
    { wantsGpu }: { wantsGpu: boolean },
  ): Promise<Survey> {
    const token = randomBytes(8).toString('hex');
    return head.withBootstrap(async (channel) => {
      const ofHead = await head.probeBy(channel, { token, leaveToken: true, hashAll: true });
      try {
        const findings = await Promise.all(
          nodes.map(async (node) => {
            const probe = node === head ? ofHead : await node.probe({ token, hashAll: true });
            return { node, probe, results: node.judge(probe, wantsGpu) };
          }),
        );
        return new Survey(head, findings);
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
    const ofHead = this.findings.find(({ node }) => node === this.head)?.probe;
    const head = prepareOne(this.head, packages, progress, { cuda, found: ofHead });
    const all = Promise.all(
      this.findings.map(async ({ node, probe }) => {
        if (node === this.head) return [node, await head] as const;
        if (probe.sharesToken === true) await head;
        return [node, await prepareOne(node, packages, progress, { cuda, found: probe })] as const;
      }),
    );
    const [runtimes] = await Promise.all([all, head]);
    return new Map(runtimes);
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
