// Everybody who shows a run reads its metrics the same way: the terminal, the list, the view of the
// checkpoints, the dashboard and the comparison are given the same random histories, each by its own code from the
// file on, and show the same figures.
import fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import type { Context } from '../../../../src/cli/context.js';
import { followRun } from '../../../../src/cli/follow.js';
import { JsonPrinter } from '../../../../src/cli/printer.js';
import type { ClusterSession } from '../../../../src/core/follow/clusterSession.js';
import { nullLogger } from '../../../../src/core/base/log.js';
import { nodePath } from '../../../../src/core/base/nodePath.js';
import { AgentNode } from '../../../../src/core/agent/agentNode.js';
import { CompareReader } from '../../../../src/core/follow/compareReader.js';
import { RunsMonitor } from '../../../../src/core/follow/runsMonitor.js';
import { RunFeed } from '../../../../src/core/follow/runFeed.js';
import type { RunSummary } from '../../../../src/core/model/runSummary.js';
import type { Backend } from '../../../../src/ui/backend.js';
import type { ContextKeys } from '../../../../src/ui/contextKeys.js';
import { DashboardSender } from '../../../../src/ui/panels/dashboardUpdate.js';
import type { Services } from '../../../../src/ui/services.js';
import { CheckpointTree } from '../../../../src/ui/tree/checkpointTree.js';
import { Reading } from '../../../../src/ui/tree/reading.js';
import { describeRun } from '../../../../src/ui/tree/describe.js';
import { PageModel } from '../../../../src/webview/dashboard/model/model.js';
import { acts, History, type Truth } from '../../support/histories.js';
import { FakeRun, stateOf } from '../../support/fakeRun.js';

vi.mock('vscode', () => {
  const nothing = (): { dispose: () => void } => ({ dispose: () => undefined });
  class Named {
    constructor(readonly label: string) {}
  }
  return {
    EventEmitter: class {
      event = nothing;
      fire = nothing;
      dispose = nothing;
    },
    TreeItemCollapsibleState: { None: 0 },
    TreeItem: Named,
    ThemeIcon: Named,
    ThemeColor: Named,
    window: { createTreeView: () => ({ ...nothing(), visible: true, onDidChangeVisibility: nothing }) },
  };
});

const json = (value: object): string => `${JSON.stringify(value)}\n`;
/** The last line that a reader gets before the run ends. */
const lastWords = 'the last image';
const seed = 20261123;

/** The five who read one run, all beginning to read it now. */
class Readers {
  private readonly node: AgentNode;
  private readonly monitor: RunsMonitor;
  private readonly tree: CheckpointTree;
  private readonly feed: RunFeed;
  private readonly sender = new DashboardSender('local');
  private readonly page = new PageModel();
  private readonly said: object[] = [];
  private readonly terminal: Promise<number>;

  constructor(private readonly run: FakeRun) {
    const dir = nodePath(run.dir);
    this.node = new AgentNode({ open: () => Promise.resolve(run.connect().stream()) });
    const { node } = this;
    const client = (): ReturnType<AgentNode['client']> => node.client();
    const list = async (): Promise<unknown[]> => [await (await client()).request('run.get', { dir })];
    const machine = { node, registry: () => Promise.resolve({ list }) };
    const session = {
      profile: { name: 'local' },
      state: { kind: 'connected' },
      machine: () => Promise.resolve(machine),
    };
    this.monitor = new RunsMonitor(
      () => Promise.resolve([session as unknown as ClusterSession]),
      () => 3_600_000,
    );
    const backend = {
      monitor: this.monitor,
      machineUnlessLeft: () => Promise.resolve(machine),
    } as unknown as Backend;
    const services = {
      backend: () => Promise.resolve(backend),
      onBackend: (use: (given: Backend) => void) => {
        use(backend);
        return { dispose: () => undefined };
      },
    } as unknown as Services;
    const keys = { update: () => undefined } as unknown as ContextKeys;
    this.tree = new CheckpointTree(services, keys, new Reading());
    this.feed = new RunFeed({ dir, client });
    this.feed.start();
    const output = {
      line: () => undefined,
      json: (value: object) => this.said.push(value),
      bytes: () => undefined,
      note: () => undefined,
    };
    const own = { node, machine, currentProfile: session.profile, logger: nullLogger };
    const context = { output, json: true, ...own } as unknown as Context;
    const options = { dir, ownsRun: false, tensorboard: false };
    this.terminal = followRun(context, new JsonPrinter(output), options);
  }

  /** Everybody takes what is there. */
  async look(): Promise<void> {
    await this.monitor.refresh();
    await this.tree.refresh();
    expect(this.page.apply(this.sender.next(this.feed, 1))).toBe('applied');
  }

  /** The dashboard has received all lines. */
  async caughtUp(): Promise<void> {
    const { log } = this.feed.model;
    await this.until(() => log.since(0).some(({ text }) => text.includes(lastWords)));
  }

  async ended(): Promise<void> {
    expect(await this.terminal).toBe(0);
    await this.until(() => this.feed.model.status === 'finished');
  }

  /** What the list shows. */
  get list(): object {
    const run = this.monitor.all[0]?.run;
    if (!run) throw new Error('the list is empty');
    const { tooltip } = describeRun(run);
    return {
      step: run.step,
      epoch: /epoch (\d+) of /.exec(tooltip)?.[1],
      best: /best top-1 (\S+) at step (\d+)/.exec(tooltip)?.slice(1).join(' at '),
      last: run.top1,
      newest: run.checkpoint?.step,
    };
  }

  /** What the view of the checkpoints shows, of those that stand. */
  get checkpoints(): object {
    const items = this.tree.getChildren().flatMap((node) => {
      const { description } = this.tree.getTreeItem(node);
      return node.kind === 'checkpoint'
        ? [{ description: typeof description === 'string' ? description : '', step: node.step }]
        : [];
    });
    const best = items.find(({ description }) => description.includes('best'));
    return {
      best: best && `${/best (\S+)/.exec(best.description)?.[1] ?? ''} at ${best.step}`,
      steps: items.map(({ step }) => step).reverse(),
    };
  }

  /** What the dashboard shows. */
  get dashboard(): object {
    const { progress, checkpoints } = this.page;
    if (!progress || !checkpoints) throw new Error('the page has nothing');
    const { step, fraction, medianImagesPerSec, bestTop1, bestStep } = progress;
    return {
      step: step ?? undefined,
      epoch: progress.epoch === null ? undefined : String(progress.epoch),
      fraction: fraction ?? undefined,
      median: medianImagesPerSec ?? undefined,
      best: bestTop1 === null ? undefined : `${percent(bestTop1)} at ${bestStep ?? ''}`,
      evaluated: this.page.evaluations.map((each) => each.step),
      count: checkpoints.count,
      newest: checkpoints.latestStep ?? undefined,
    };
  }

  /** What the terminal says at the end. */
  get summary(): object {
    const { step, median_images_per_sec, best_top1, top1, checkpoints } = this.said.at(-1) as RunSummary;
    return {
      step: step ?? undefined,
      median: median_images_per_sec ?? undefined,
      best: best_top1 ?? undefined,
      last: top1 ?? undefined,
      count: checkpoints,
    };
  }

  /** What the comparison shows of a run that is over. */
  async comparison(): Promise<object> {
    const client = await this.node.client();
    const entry = await client.request('run.get', { dir: nodePath(this.run.dir) });
    const { figures, evaluations } = await new CompareReader().read(client, 'local', entry);
    return {
      step: figures.steps ?? undefined,
      best: figures.bestTop1 ?? undefined,
      last: figures.top1 ?? undefined,
      evaluated: evaluations.map((each) => each.step),
    };
  }

  dispose(): void {
    this.tree.dispose();
    this.monitor.dispose();
    this.feed.dispose();
    this.node.dispose();
  }

  private async until(is: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 10_000; !is();) {
      if (Date.now() > deadline) throw new Error('the dashboard did not receive all lines within 10 s');
      await new Promise((wake) => setImmediate(wake));
    }
  }
}

const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)}%`;

/** What all have to show. */
function expected(
  truth: Truth,
  over: boolean,
): Record<'list' | 'checkpoints' | 'dashboard' | 'summary' | 'comparison', object> {
  const { step, hasLine, last, median, checkpoints } = truth;
  const best = truth.best && `${percent(truth.best.top1)} at ${truth.best.step}`;
  const epoch = step === undefined ? undefined : String(Math.min(12, Math.floor(step / 25) + 1));
  const fraction = step === undefined ? undefined : step / 300;
  const newest = checkpoints.at(-1);
  const count = checkpoints.length;
  return {
    list: {
      step,
      epoch: over ? undefined : epoch,
      best,
      last: last ?? (hasLine ? 0.5 : undefined),
      newest,
    },
    checkpoints: { best, steps: checkpoints },
    dashboard: { step, epoch, fraction, median, best, evaluated: truth.evaluated, count, newest },
    summary: { step, median, best: truth.best?.top1, last, count },
    comparison: { step, best: truth.best?.top1, last, evaluated: truth.evaluated },
  };
}

it(`terminal, list, checkpoints, dashboard and comparison show the same of any history (seed ${seed})`, async () => {
  await fc.assert(
    fc.asyncProperty(acts, async (list) => {
      const history = new History(list);
      const { truth } = history;
      const run = new FakeRun();
      run.piece = 4096;
      run.checkpoints = truth.checkpoints.map((step) => ({
        step,
        path: `checkpoints/${step}`,
        bytes: 1,
        time: 1,
        valid: true,
      }));
      run.append('events.jsonl', '');
      run.append('metrics.jsonl', history.pieces[0] ?? '');
      const readers = new Readers(run);
      try {
        for (const piece of history.pieces.slice(1)) {
          await readers.look();
          run.append('metrics.jsonl', piece);
        }
        run.append(
          'metrics.jsonl',
          json({ kind: 'bad_image', time: 9999, generation: 1, path: lastWords, message: 'm', count: 1 }),
        );
        await readers.caughtUp();
        await readers.look();
        const { list: listed, checkpoints, dashboard } = readers;
        const { summary, comparison, ...running } = expected(truth, false);
        expect({ list: listed, checkpoints, dashboard }).toEqual(running);
        run.state = stateOf('finished', 2);
        const end = { phase: 'finished', exit_code: 0, reason: null, seconds: 60 };
        run.append('events.jsonl', json({ time: 1, generation: 1, kind: 'finished', ...end }));
        await readers.ended();
        await readers.look();
        const { list: finally_, checkpoints: kept, dashboard: last, summary: said } = readers;
        const compared = await readers.comparison();
        expect({
          list: finally_,
          checkpoints: kept,
          dashboard: last,
          summary: said,
          comparison: compared,
        }).toEqual(expected(truth, true));
        expect(said).toEqual(summary);
        expect(compared).toEqual(comparison);
      } finally {
        readers.dispose();
      }
    }),
    { seed, numRuns: 60 },
  );
});
