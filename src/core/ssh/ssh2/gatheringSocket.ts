// The socket under ssh2. What is written in one turn goes in one piece: ssh2 writes the three parts
// of a packet one by one, which would be three system calls, and three segments on the network.
// What is read lies in the same memory each time, where nobody keeps it.
import { Socket, type SocketConstructorOpts, type ConnectOpts } from 'node:net';
import { free } from '../../base/memory.js';
import { freeWritten, gatherWrites } from '../../streams/writes.js';
import { isSpent } from '../library/packetMemory.js';

/** Bytes that are read at once at most: eight of the largest packets that servers send. */
const readBytes = 256 * 1024;

/** What is to be known of the reader of a socket. */
interface Reader {
  /** Whether it has a copy of all that it wants of a chunk as soon as it was given the chunk. */
  readonly isCopying: boolean;
  /** How many bytes of what was read it is to get now; the rest comes with what is read next. */
  wholePackets(read: Buffer): number;
}

/** A TCP socket that gathers what is written in one turn, from its connection on. */
export class GatheringSocket extends Socket {
  private readonly memory: Buffer;
  /** Bytes at the start of the memory that its reader has not got yet. */
  private kept = 0;
  private reader: Reader | undefined;

  constructor() {
    const memory = Buffer.allocUnsafeSlow(readBytes);
    const onread = {
      buffer: () => memory.subarray(this.kept),
      callback: (length: number) => this.receive(this.kept + length),
    };
    const options: SocketConstructorOpts & ConnectOpts = { onread };
    super(options);
    this.memory = memory;
    this.once('connect', () => {
      gatherWrites(this);
      freeWritten(this, free, isSpent);
    });
  }

  /**
   * From now on, while the reader copies, a chunk has its bytes only until the listeners of 'data'
   * have returned. Before, and else, a chunk is a copy.
   */
  reuseMemory(reader: Reader): void {
    this.reader = reader;
  }

  /** `filled`: bytes of the memory. False: read no more until the stream asks for it. */
  private receive(filled: number): boolean {
    const { reader } = this;
    const isWaiting = this.readableFlowing === true && this.readableLength === 0;
    if (reader?.isCopying !== true || !isWaiting) return this.pass(0, filled);
    const read = this.memory.subarray(0, filled);
    const whole = reader.wholePackets(read);
    this.emit('data', read.subarray(0, whole));
    this.memory.copyWithin(0, whole, filled);
    this.kept = filled - whole;
    return this.stillCopies() || this.pass(0, this.kept);
  }

  /** Not any more after new keys of another cipher, which come in a chunk. */
  private stillCopies(): boolean {
    return this.reader?.isCopying === true;
  }

  /** By the stream's own way, which keeps what nobody reads yet. */
  private pass(from: number, to: number): boolean {
    this.kept = 0;
    return from === to || this.push(Buffer.from(this.memory.subarray(from, to)));
  }
}
