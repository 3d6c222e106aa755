// The key in a bridge's address: http://127.0.0.1:6006/KEY/. The port is open to every user of this
// machine, the key is not.
//
// The key is a folder of the path and no cookie, for three reasons. In an editor the page is a
// frame within another site, where a browser sends no SameSite cookie, and SameSite=None needs
// https. A browser sends a cookie of 127.0.0.1 to every port of it, so also to a server of another
// user. And TensorBoard asks with relative addresses only, so each request has the folder by
// itself, behind a proxy such as code-server's http://HOST/proxy/6006/KEY/ too.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Milliseconds for which an address for one use is good: a browser may have to start. */
const onceTime = 300_000;

/** What becomes of a request: it is passed on, sent to another address, or refused. */
export type Verdict =
  /** `target` is what the server behind is asked for. */
  | { kind: 'inside'; target: string }
  /** `to` is relative to the address that was asked for. */
  | { kind: 'moved'; to: string }
  | { kind: 'outside' };

/** The key of one bridge: 32 hex digits, other ones for each bridge. */
export class BridgeKey {
  private readonly key = randomBytes(16).toString('hex');
  /** Words for one use, and until when each is good. */
  private readonly once = new Map<string, number>();

  /** The folder that every address has. */
  get folder(): string {
    return `${this.key}/`;
  }

  /**
   * A folder that leads to the other one, once. It is for an address that others may see, such as
   * the command line of a browser.
   */
  folderForOneUse(): string {
    const word = randomBytes(16).toString('hex');
    this.once.set(word, Date.now() + onceTime);
    return `${word}/`;
  }

  /** `target` is that of a request: the path with what follows a `?`. */
  judge(target: string): Verdict {
    const found = /^\/([0-9a-f]{32})(\/?)([^]*)$/.exec(target);
    const [, word = '', slash = '', rest = ''] = found ?? [];
    if (same(word, this.key)) {
      if (slash !== '') return { kind: 'inside', target: `/${rest}` };
      // Without the slash, relative addresses of the page would lose the key.
      return /^$|^\?/.test(rest) ? { kind: 'moved', to: `${this.folder}${rest}` } : { kind: 'outside' };
    }
    const isOnce = [...this.once.keys()].find((each) => same(word, each));
    if (isOnce === undefined || slash === '') return { kind: 'outside' };
    const isGood = (this.once.get(isOnce) ?? 0) >= Date.now();
    this.once.delete(isOnce);
    return isGood ? { kind: 'moved', to: `../${this.folder}${rest}` } : { kind: 'outside' };
  }
}

/** Takes as long for a wrong word as for a nearly right one. */
function same(one: string, other: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
