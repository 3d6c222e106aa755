// A run folder in memory behind the fake agent: files that grow, and a state.
import { FakeAgent, type Request } from './fakeAgent.js';
import type { QueueStand } from '../../../src/core/contracts/agentApi.js';
import type { Checkpoint } from '../../../src/core/contracts/checkpointSchema.js';
import type { Phase } from '../../../src/core/contracts/runSchema.js';

interface Follow {
  agent: FakeAgent;
  id: number;
  path: string;
  sent: number;
}

export const stateOf = (phase: Phase, updated = 1): object => ({
  version: 1,
  phase,
  generation: 1,
  world: 2,
  supervisor: { pid: 1, startTime: 1, bootId: 'b', host: 'h' },
  ranks: [],
  mpiexec: null,
  evaluator: null,
  started: 100,
  ended: phase === 'finished' || phase === 'stopped' || phase === 'failed' ? 160 : null,
  exitCode: phase === 'finished' ? 0 : null,
  reason: null,
  updated,
});

const linesOf = (bytes: Buffer | undefined): unknown[] =>
  (bytes?.toString() ?? '').split('\n').flatMap((line): unknown[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });

export class FakeRun {
  readonly dir = '/w/runs/r';
  state: object | null = stateOf('running');
  interrupted = false;
  /** How its job stands in the queue of Slurm. */
  queue: QueueStand | undefined;
  gone = false;
  /** What the agent finds in the folder, as `checkpoint.list` tells it. */
  checkpoints: readonly Checkpoint[] = [];
  /** How files are cut when they are sent. */
  piece = 7;
  private readonly files = new Map<string, Buffer>();
  /** How often each file has changed. */
  private readonly changes = new Map<string, number>();
  private follows: Follow[] = [];
  private agents: FakeAgent[] = [];

  /** A new connection to the node of this run. */
  connect(): FakeAgent {
    const agent: FakeAgent = new FakeAgent((request) => this.answer(agent, request));
    this.agents.push(agent);
    return agent;
  }

  /** Every connection breaks. */
  drop(): void {
    this.follows = [];
    for (const agent of this.agents.splice(0)) agent.end('signal SIGKILL');
  }

  append(name: string, text: string): void {
    const path = `${this.dir}/${name}`;
    this.write(path, Buffer.concat([this.files.get(path) ?? Buffer.alloc(0), Buffer.from(text)]));
    this.send();
  }

  /** The file becomes another one. */
  replace(name: string, text: string): void {
    const path = `${this.dir}/${name}`;
    this.write(path, Buffer.from(text));
    for (const follow of this.follows.filter((each) => each.path === path)) {
      follow.sent = 0;
      follow.agent.send({ method: 'file.reset', params: { id: follow.id, size: text.length } });
    }
    this.send();
  }

  size(name: string): number {
    return this.files.get(`${this.dir}/${name}`)?.length ?? 0;
  }

  private write(path: string, bytes: Buffer): void {
    this.files.set(path, bytes);
    this.changes.set(path, (this.changes.get(path) ?? 0) + 1);
  }

  private send(): void {
    for (const follow of this.follows) {
      const bytes = this.files.get(follow.path) ?? Buffer.alloc(0);
      while (follow.sent < bytes.length) {
        const data = bytes.subarray(follow.sent, follow.sent + this.piece);
        const params = { id: follow.id, offset: follow.sent, data: data.toString('base64') };
        follow.agent.send({ method: 'file.data', params });
        follow.sent += data.length;
      }
    }
  }

  private answer(agent: FakeAgent, { method, params }: Request): unknown {
    const notFound = { error: { code: 1, message: 'not found' } };
    if (this.gone) return notFound;
    const path = String(params['path']);
    const bytes = this.files.get(path);
    switch (method) {
      case 'run.get': {
        const named = [...this.files].map(([path, bytes]) => ({
          name: path.slice(this.dir.length + 1),
          bytes: bytes.length,
          stamp: String(this.changes.get(path)),
        }));
        const files = Object.fromEntries(named.map(({ name, bytes }) => [name, bytes]));
        const stamps = Object.fromEntries(named.map(({ name, stamp }) => [name, stamp]));
        return {
          result: {
            id: 'r',
            dir: this.dir,
            run: null,
            state: this.state,
            interrupted: this.interrupted,
            ...(this.queue ? { queue: this.queue } : {}),
            files,
            stamps,
          },
        };
      }
      case 'file.follow':
        if (!bytes) return notFound;
        this.follows.push({ agent, id: Number(params['id']), path, sent: Number(params['offset']) });
        queueMicrotask(() => {
          this.send();
        });
        return { result: {} };
      case 'file.read': {
        if (!bytes) return notFound;
        const offset = Number(params['offset']);
        const part = bytes.subarray(offset, offset + Number(params['length']));
        return { result: { data: part.toString('base64'), offset, size: bytes.length, inode: 1 } };
      }
      case 'metrics.read':
        return { result: this.unmerged(Number(params['end'] ?? Infinity)) };
      case 'checkpoint.list':
        return { result: { checkpoints: this.checkpoints } };
      case 'disk.free':
        return { result: { free: 1e9, total: 2e9, inodesFree: 1e6 } };
      default:
        return { result: {} };
    }
  }

  /** As an agent answers that has no line to merge. */
  private unmerged(end: number): { size: number; lines: unknown[] } {
    const bytes = (this.files.get(`${this.dir}/metrics.jsonl`) ?? Buffer.alloc(0)).subarray(0, end);
    const size = bytes.lastIndexOf('\n') + 1;
    return { size, lines: linesOf(bytes.subarray(0, size)) };
  }
}
