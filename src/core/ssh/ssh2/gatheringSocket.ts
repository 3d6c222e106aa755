// A socket that sends what is written in one turn in one piece. ssh2 writes the three parts of a
// packet one by one, which would be three system calls, and three segments on the network.
import { Socket } from 'node:net';
import { free } from '../../base/memory.js';
import { isSpent } from '../library/packetMemory.js';

type Done = (error?: Error | null) => void;

/** A TCP socket that gathers what is written in one turn, from its connection on. */
export class GatheringSocket extends Socket {
  private isGathering = false;

  constructor() {
    super();
    // Not by a method of that name: Socket's own `connect` puts its own `write` in the place of any
    // other.
    this.once('connect', () => {
      this.write = (data: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done) =>
        this.writeGathered(data, encoding, done);
    });
  }

  private writeGathered(data: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    this.gather();
    if (typeof encoding === 'function') return super.write(data, encoding);
    return super.write(data, encoding, done ?? freed(data));
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

/** Frees a packet that was sent. After an error, who knows who has it still. */
function freed(data: Uint8Array | string): Done | undefined {
  if (!isSpent(data)) return undefined;
  return (error) => {
    if (!error) free(data);
  };
}
