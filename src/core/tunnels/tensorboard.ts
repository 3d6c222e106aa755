// TensorBoard of a run, as an address on this machine: started on the node when it is not there,
// kept until let go.
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { errorText, throwIfCancelled, UserError } from '../base/errors.js';
import type { Disposable } from '../base/lifecycle.js';
import type { BoardPlace, Machine } from '../cluster/nodes/machine.js';
import type { Progress } from '../base/progress.js';
import { nullLogger } from '../base/log.js';
import { ForwardingForbidden } from '../ssh/base/failures.js';
import { HttpBridge, type HttpBridgeOptions } from './httpBridge.js';
import type { NodePath } from '../base/nodePath.js';

/** Milliseconds it is given to load. */
const startTimeout = 90_000;

/** Milliseconds between two looks whether it serves: each may be a line in a log of sshd. */
const firstPause = 150;
const longestPause = 2000;

const becauseOf = (problem: unknown): string => (problem === undefined ? '' : ` (${errorText(problem)})`);

/** Seconds without a request after which TensorBoard ends. */
export const tensorboardIdle = 1800;

/** Whether a run's TensorBoard runs on the node. */
export interface TensorBoardStatus {
  running: boolean;
  /** What it said last, oldest first. */
  lastLines: readonly string[];
}

/** How the bridge logs, and how it names the way to open it anew. */
export interface BridgeOptions extends Pick<HttpBridgeOptions, 'logger' | 'howToOpen'> {
  /** First port of this machine to try; asked for each bridge. */
  port?: () => number;
}

/** Where TensorBoard of a run is served. UserError (usage) where that is nowhere now. */
export async function boardPlaceOf(machine: Machine, dir: NodePath): Promise<BoardPlace> {
  if (machine.boardPlace) return machine.boardPlace(dir);
  return {
    client: () => machine.node.client(),
    connectSocket: (path) => machine.connectSocket(path),
  };
}

/** A bridge to TensorBoard's private socket where it is served. */
export function bridgeToSocket(
  place: Pick<BoardPlace, 'connectSocket'>,
  socketPath: NodePath,
  { logger = nullLogger, howToOpen, port }: BridgeOptions = {},
): Promise<HttpBridge> {
  const connect = (): Promise<Duplex> => place.connectSocket(socketPath);
  return HttpBridge.open({
    connect,
    logger,
    ...(howToOpen === undefined ? {} : { howToOpen }),
    ...(port === undefined ? {} : { port: port() }),
  });
}

interface Opened {
  machine: Machine;
  dir: NodePath;
  opening: Promise<{ bridge: HttpBridge; socket: NodePath }>;
}

/** The bridges, one for each run of each machine. */
export class TensorBoards implements Disposable {
  private readonly bridges = new Map<string, Opened>();
  private readonly machines = new WeakMap<Machine, number>();
  private machinesSeen = 0;

  constructor(private readonly options: BridgeOptions = {}) {}

  /**
   * Starts TensorBoard on the run's folder, or finds it running. UserError, AgentError, Cancelled.
   */
  async open(machine: Machine, dir: NodePath, progress: Progress = {}): Promise<HttpBridge> {
    progress.onProgress?.('preparing the runtime');
    const { python, tensorboardServer: server } = await machine.runtime(progress);
    progress.onProgress?.('starting TensorBoard');
    const client = await (await boardPlaceOf(machine, dir)).client();
    const { socket } = await client.request('tensorboard.start', {
      dir,
      python,
      server,
      idle: tensorboardIdle,
    });
    const bridge = await this.bridge(machine, dir, socket);
    progress.onProgress?.('waiting for TensorBoard to serve');
    await this.untilServing(machine, dir, bridge, progress.signal);
    return bridge;
  }

  async status(machine: Machine, dir: NodePath, signal?: AbortSignal): Promise<TensorBoardStatus> {
    const client = await (await boardPlaceOf(machine, dir)).client();
    const options = signal ? { signal } : {};
    const { running, lastLines } = await client.request('tensorboard.status', { dir }, options);
    return { running, lastLines: lastLines ?? [] };
  }

  /** Ends TensorBoard of this run, and the address. */
  async stop(machine: Machine, dir: NodePath): Promise<void> {
    await (await (await boardPlaceOf(machine, dir)).client()).request('tensorboard.stop', { dir });
    this.release(this.key(machine, dir));
  }

  /** Whether an address of this machine leads to it, as `open` made one. */
  leadsTo(machine: Machine, dir: NodePath): boolean {
    return this.bridges.has(this.key(machine, dir));
  }

  /** Ends the addresses that lead to this machine, which is disposed. TensorBoard itself goes on. */
  leave(machine: Machine): void {
    for (const [key, opened] of [...this.bridges]) if (opened.machine === machine) this.release(key);
  }

  /** One bridge a run, also for calls at the same time; another socket gets another one. */
  private async bridge(machine: Machine, dir: NodePath, socket: NodePath): Promise<HttpBridge> {
    const key = this.key(machine, dir);
    const before = this.bridges.get(key)?.opening.catch(() => undefined) ?? Promise.resolve(undefined);
    const opening = before.then(async (known) => {
      if (known?.socket === socket) return known;
      known?.bridge.dispose();
      // Asked anew for each connection: a run may get other nodes.
      const connectSocket = async (path: NodePath): Promise<Duplex> =>
        (await boardPlaceOf(machine, dir)).connectSocket(path);
      return { bridge: await bridgeToSocket({ connectSocket }, socket, this.options), socket };
    });
    this.bridges.set(key, { machine, dir, opening });
    return (await opening).bridge;
  }

  /**
   * It takes seconds to load. UserError (failed) with its last words when it ends, or never
   * answers.
   */
  private async untilServing(
    machine: Machine,
    dir: NodePath,
    bridge: HttpBridge,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const deadline = Date.now() + startTimeout;
    for (let pause = firstPause; ; pause = Math.min(pause * 1.5, longestPause)) {
      throwIfCancelled(signal);
      if (await bridge.answers(signal)) return;
      if (bridge.problem instanceof ForwardingForbidden) throw bridge.problem;
      const { running, lastLines } = await this.status(machine, dir, signal);
      if (!running || Date.now() > deadline) {
        const what = running
          ? `TensorBoard gave no answer for ${startTimeout / 1000} s${becauseOf(bridge.problem)}`
          : 'TensorBoard ended';
        const said = lastLines.length === 0 ? '' : ` It said: ${lastLines.slice(-5).join(' | ')}`;
        throw new UserError('failed', `${what}.${said}`, 'Restart it');
      }
      await delay(pause);
    }
  }

  dispose(): void {
    for (const key of [...this.bridges.keys()]) this.release(key);
  }

  /** Run folders of two machines may have the same name. */
  private key(machine: Machine, dir: NodePath): string {
    const number = this.machines.get(machine) ?? ++this.machinesSeen;
    this.machines.set(machine, number);
    return `${number} ${dir}`;
  }

  private release(key: string): void {
    const opened = this.bridges.get(key);
    this.bridges.delete(key);
    opened?.machine.letGoOfBoard?.(opened.dir);
    opened?.opening.then(
      ({ bridge }) => {
        bridge.dispose();
      },
      () => undefined,
    );
  }
}
