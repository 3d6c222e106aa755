// TensorBoard of a run, as an address on this machine: started on the node when it is not there, kept until let go.
import { connect } from 'node:net';
import type { Disposable } from '../lifecycle.js';
import type { LocalMachine, Progress } from '../machine.js';
import { nullLogger, type Logger } from '../log.js';
import { HttpBridge } from './httpBridge.js';

/** Seconds without a request after which TensorBoard ends. */
export const tensorboardIdle = 1800;

export interface TensorBoardStatus {
  running: boolean;
  /** What it said last, oldest first. */
  lastLines: readonly string[];
}

/** A bridge to TensorBoard's private socket on this machine. */
export function bridgeToSocket(socketPath: string, logger: Logger): Promise<HttpBridge> {
  return HttpBridge.open({ connect: () => connect(socketPath), logger });
}

/** The bridges of one machine, one for each run folder. */
export class TensorBoards implements Disposable {
  private readonly bridges = new Map<string, Promise<{ bridge: HttpBridge; socket: string }>>();

  constructor(private readonly logger: Logger = nullLogger) {}

  /** Starts TensorBoard on the run's folder, or finds it running. UserError, AgentError, Cancelled. */
  async open(machine: LocalMachine, dir: string, progress: Progress = {}): Promise<HttpBridge> {
    progress.onProgress?.('preparing the runtime');
    const { python, tensorboardServer: server } = await machine.runtime(progress);
    progress.onProgress?.('starting TensorBoard');
    const client = await machine.node.client();
    const { socket } = await client.request('tensorboard.start', {
      dir,
      python,
      server,
      idle: tensorboardIdle,
    });
    const known = await this.bridges.get(dir)?.catch(() => undefined);
    if (known?.socket === socket) return known.bridge;
    known?.bridge.dispose();
    const opening = bridgeToSocket(socket, this.logger).then((bridge) => ({ bridge, socket }));
    this.bridges.set(dir, opening);
    return (await opening).bridge;
  }

  async status(machine: LocalMachine, dir: string): Promise<TensorBoardStatus> {
    const client = await machine.node.client();
    const { running, lastLines } = await client.request('tensorboard.status', { dir });
    return { running, lastLines: lastLines ?? [] };
  }

  /** Ends TensorBoard of this run, and the address. */
  async stop(machine: LocalMachine, dir: string): Promise<void> {
    await (await machine.node.client()).request('tensorboard.stop', { dir });
    this.release(dir);
  }

  dispose(): void {
    for (const dir of [...this.bridges.keys()]) this.release(dir);
  }

  private release(dir: string): void {
    const opening = this.bridges.get(dir);
    this.bridges.delete(dir);
    opening?.then(
      ({ bridge }) => {
        bridge.dispose();
      },
      () => undefined,
    );
  }
}
