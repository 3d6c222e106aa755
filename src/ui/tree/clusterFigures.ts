// The newest figures of each node of one connected profile, asked for once a second while somebody
// looks.
import { HostSampler } from '../../core/model/hosts/hostSampler.js';
import type { Disposable } from '../../core/base/lifecycle.js';
import type { NamedNode } from '../../core/cluster/nodes/machine.js';
import { errorWords } from '../remedies.js';
import type { CudaBuild } from '../../core/setup/cudaBuild.js';
import type { HostSample } from '../../core/contracts/metricsSchema.js';

/** A figure older than this is not shown as if it were true now. */
const staleAfter = 5000;

export interface HostFigures {
  name: string;
  sampler: HostSampler;
  cores: number;
  /** Of the CUDA back end, and why. Known once the node's agent was reached. */
  cudaBuild: CudaBuild | undefined;
  latest: { sample: HostSample; at: number } | undefined;
  problem: string | undefined;
}

export class ClusterFigures implements Disposable {
  readonly hosts: readonly HostFigures[];
  private aging: NodeJS.Timeout | undefined;

  constructor(
    readonly nodes: readonly NamedNode[],
    private readonly changed: () => void,
  ) {
    this.hosts = nodes.map((node) => this.figuresOf(node));
  }

  host(name: string): HostFigures | undefined {
    return this.hosts.find((host) => host.name === name);
  }

  start(): void {
    for (const { sampler } of this.hosts) sampler.start();
    // A silent node gives neither figures nor an error, and what is shown of it gets old.
    this.aging ??= setInterval(() => {
      if (this.hosts.some((host) => host.latest && !freshSample(host))) this.changed();
    }, 1000);
  }

  stop(): void {
    for (const { sampler } of this.hosts) sampler.stop();
    this.stopAging();
  }

  dispose(): void {
    for (const { sampler } of this.hosts) sampler.dispose();
    this.stopAging();
  }

  private stopAging(): void {
    clearInterval(this.aging);
    this.aging = undefined;
  }

  private figuresOf(of: NamedNode): HostFigures {
    const { name, node } = of;
    const sampler = new HostSampler(async () => {
      figures.cores = (await node.hello()).cores;
      figures.cudaBuild = of.cudaBuild;
      return (await node.client()).request('host.sample');
    });
    const figures: HostFigures = {
      name,
      sampler,
      cores: 0,
      cudaBuild: undefined,
      latest: undefined,
      problem: undefined,
    };
    sampler.onSample((result) => {
      if ('sample' in result) {
        figures.latest = { sample: result.sample, at: Date.now() };
        figures.problem = undefined;
      } else figures.problem = errorWords(result.error);
      this.changed();
    });
    return figures;
  }
}

/** Its newest sample, unless that is old. */
export function freshSample(figures: HostFigures | undefined): HostSample | undefined {
  const latest = figures?.latest;
  return latest && Date.now() - latest.at < staleAfter ? latest.sample : undefined;
}

/** In place of figures that are old or missing. */
export function ageText(figures: HostFigures | undefined): string {
  if (figures?.problem !== undefined) return figures.problem;
  if (!figures?.latest) return 'asking…';
  return `no figures for ${Math.round((Date.now() - figures.latest.at) / 1000)} s, trying again`;
}
