// One maker at a time of a folder in a home that several machines may share: the same file and
// rules as native/node/lease.py, for this machine's own runtime. The rules are in
// docs/contracts/nodes.md.
import { createHash } from 'node:crypto';
import {
  link,
  lstat,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  type FileHandle,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode, throwIfCancelled } from '../base/errors.js';
import { isProcessThere, processStartTime } from '../base/processes.js';

/** Milliseconds between two signs of a maker. */
const beat = 5_000;
/** Milliseconds between two looks at a maker. */
const pause = 200;
/**
 * Milliseconds without a sign, after which a maker that cannot be looked at is taken for dead. Each
 * look counts as one pause: time in which this machine slept is no silence of the maker.
 */
const silence = 30_000;
/** Of a process where the system does not say when it started: macOS, Windows. */
const unknownStart = '0';
/** Milliseconds after which what another host left half made is nobody's. */
const forgotten = 24 * 3600 * 1000;

/** `HOST-PLACE-PID-START` of this process; PLACE stands for boot and PID namespace. */
export async function identity(): Promise<string> {
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  const space = await readlink('/proc/self/ns/pid').catch(() => '');
  const place = createHash('sha256')
    .update(boot + space)
    .digest('hex')
    .slice(0, 8);
  const host = hostname()
    .replace(/[^A-Za-z0-9.-]/g, '_')
    .slice(0, 64);
  return `${host}-${place}-${process.pid}-${(await processStartTime(process.pid)) ?? unknownStart}`;
}

interface Maker {
  host: string;
  place: string;
  pid: number;
  start: string;
}

function makerOf(text: string): Maker | undefined {
  const [, host, place, pid, start] = /^(.+)-([0-9a-f]{8})-(\d+)-(\d+)/.exec(text) ?? [];
  if (host === undefined || place === undefined || start === undefined) return undefined;
  return { host, place, pid: Number(pid), start };
}

/**
 * `unknown`: the process of another host, and one whose pid may be another process's by now. Those
 * are judged by their signs.
 */
async function standOf(
  maker: Maker | undefined,
  own: Maker | undefined,
): Promise<'dead' | 'alive' | 'unknown'> {
  if (!maker || maker.host !== own?.host || maker.place !== own.place) return 'unknown';
  if (maker.start === unknownStart) return isProcessThere(maker.pid) ? 'unknown' : 'dead';
  return (await processStartTime(maker.pid)) === maker.start ? 'alive' : 'dead';
}

/** How the wait for a lease is ended, and followed. */
export interface LeaseOptions {
  signal?: AbortSignal | undefined;
  /** Somebody on this host makes it. */
  onWait?: (host: string) => void;
}

/** The right to make `<root>/<name>`. */
export class Lease {
  private count = 0;
  private taker: string | undefined;
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly path: string,
    readonly own: string,
    private readonly file: FileHandle,
    /** The maker whose place this one took. */
    private readonly dead: string | undefined,
  ) {
    this.timer = setInterval(() => {
      void this.renew().catch(() => undefined); // a failing disk fails what is made on it
    }, beat);
    this.timer.unref();
  }

  /** Waits until nobody else makes it. Cancelled; an Error of the file system. */
  static async hold(root: string, name: string, { signal, onWait }: LeaseOptions = {}): Promise<Lease> {
    const path = join(root, `.${name}.maker`);
    const own = await identity();
    let dead: string | undefined;
    let seen: string | undefined;
    let told: string | undefined;
    for (let silent = 0; ; silent += pause) {
      throwIfCancelled(signal);
      const file = await create(path);
      if (file) {
        const lease = new Lease(path, own, file, dead);
        await lease.write();
        return lease;
      }
      const text = await read(path);
      const maker = makerOf(text ?? '');
      if (text !== seen) {
        seen = text;
        silent = 0;
      }
      const stand = await standOf(maker, makerOf(own));
      if (text !== undefined && (stand === 'dead' || (stand === 'unknown' && silent > silence))) {
        if (await end(path, own, text)) dead = text.split(' ')[0];
        continue;
      }
      if (maker && maker.host !== told) {
        told = maker.host;
        onWait?.(maker.host);
      }
      await delay(pause);
    }
  }

  /**
   * Half-made folders of makers that are gone: of this host, of the one whose place this took, and
   * those of more than a day ago.
   */
  async removeDead(root: string, name: string): Promise<void> {
    const prefix = `.${name}.partial-`;
    for (const entry of await readdir(root)) {
      if (!entry.startsWith(prefix)) continue;
      const made = entry.slice(prefix.length);
      const path = join(root, entry);
      const info = await lstat(path).catch(() => undefined);
      const old = info !== undefined && Date.now() - info.mtimeMs > forgotten;
      const gone = (await standOf(makerOf(made), makerOf(this.own))) === 'dead';
      if (old || gone || (this.dead !== undefined && made.startsWith(`${this.dead}-`))) {
        await rm(path, { recursive: true, force: true });
      }
    }
  }

  /**
   * The host that took it over because no sign came; `another machine` where that one is done
   * already. Undefined while this side has it.
   */
  async lostTo(): Promise<string | undefined> {
    const text = await read(this.path);
    if (text === undefined) this.taker ??= 'another machine';
    const maker = text?.split(' ')[0] ?? '';
    if (maker !== '' && maker !== this.own) this.taker = maker;
    return this.taker === undefined ? undefined : (makerOf(this.taker)?.host ?? this.taker);
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.file.close();
    if ((await read(this.path))?.startsWith(`${this.own} `) === true) await rm(this.path, { force: true });
  }

  private async renew(): Promise<void> {
    await this.write();
    await this.lostTo();
  }

  private async write(): Promise<void> {
    const text = `${this.own} ${String(++this.count).padStart(12, '0')}\n`;
    await this.file.write(text, 0);
    await this.file.sync();
  }
}

async function create(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'wx', 0o600);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
}

async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Takes a dead maker's file away, unless it has meanwhile become another's or its maker has given a
 * sign.
 */
async function end(path: string, own: string, text: string): Promise<boolean> {
  const aside = `${path}-${own}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return false;
    throw error;
  }
  try {
    if ((await read(aside)) === text) return true;
    await link(aside, path).catch((error: unknown) => {
      if (systemCode(error) !== 'EEXIST') throw error; // a third one holds it: the second to end throws its own away
    });
    return false;
  } finally {
    await rm(aside, { force: true });
  }
}
