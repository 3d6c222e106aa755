// A socket that sends what is written in one turn in one piece. ssh2 writes the three parts of a packet one by one, which would
// be three system calls, and three segments on the network.
import { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

export class GatheringSocket extends Socket {
  private isGathering = false;

  override write(data: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    this.gather();
    return typeof encoding === 'function' ? super.write(data, encoding) : super.write(data, encoding, done);
  }

  private gather(): void {
    if (this.isGathering) return;
    this.isGathering = true;
    this.cork();
    process.nextTick(() => {
      this.isGathering = false;
      this.uncork();
    });
  }
}
