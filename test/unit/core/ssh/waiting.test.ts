// Who waits for what: places for connections, one question for many keys, silence on a connection,
// channels.
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChannelGate } from '../../../../src/core/ssh/base/channelGate.js';
import { Deadline } from '../../../../src/core/ssh/base/deadline.js';
import { HostKeyReview } from '../../../../src/core/ssh/hostKeys/review.js';
import { Limiter } from '../../../../src/core/ssh/base/limiter.js';
import type { UnknownHostKey } from '../../../../src/core/ssh/base/transport.js';
import { Watchdog } from '../../../../src/core/ssh/base/watchdog.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const flush = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe('Limiter', () => {
  it('lets in as many as it has places, in the order in which they came', async () => {
    const limiter = new Limiter(2);
    const entered: number[] = [];
    const slots = [0, 1, 2, 3].map(async (number) => {
      const slot = await limiter.acquire();
      entered.push(number);
      return slot;
    });
    await flush();
    expect(entered).toEqual([0, 1]);
    const first = await slots[0]!;
    first.release();
    first.release(); // a second time changes nothing
    await flush();
    expect(entered).toEqual([0, 1, 2]);
  });

  it('gives a place to another while its holder waits for a person', async () => {
    const limiter = new Limiter(1);
    const slot = await limiter.acquire();
    const order: string[] = [];
    let answer: () => void = () => undefined;
    const waited = slot
      .without(() => new Promise<void>((resolve) => (answer = resolve)))
      .then(() => order.push('answered'));
    const other = await limiter.acquire();
    order.push('other');
    answer();
    await flush();
    expect(order).toEqual(['other']);
    other.release();
    await waited;
    expect(order).toEqual(['other', 'answered']);
  });

  it('forgets who gave up waiting', async () => {
    const limiter = new Limiter(1);
    const slot = await limiter.acquire();
    const abort = new AbortController();
    const cancelled = limiter.acquire(abort.signal);
    const next = limiter.acquire();
    abort.abort();
    await expect(cancelled).rejects.toThrow('cancelled');
    slot.release();
    await expect(next).resolves.toBeDefined();
  });
});

describe('HostKeyReview', () => {
  const key = (host: string): UnknownHostKey => ({
    host,
    address: host,
    port: 22,
    type: 'ssh-ed25519',
    fingerprint: `SHA256:${host}`,
  });
  const asked: string[][] = [];
  let answers: ((trusted: boolean) => void)[] = [];
  const prompter = {
    trust: (unknown: readonly UnknownHostKey[]) => {
      asked.push(unknown.map(({ host }) => host));
      return new Promise<boolean>((resolve) => answers.push(resolve));
    },
  };
  beforeEach(() => {
    asked.length = 0;
    answers = [];
  });

  it('asks when all under way have met their keys, without waiting longer', async () => {
    const review = new HostKeyReview(prompter);
    const [a, b, c] = [review.begin(), review.begin(), review.begin()];
    const answer = review.ask(key('a'));
    a.done();
    void review.ask(key('b'));
    b.done();
    expect(asked).toEqual([]);
    c.done(); // known
    expect(asked).toEqual([['a', 'b']]);
    answers[0]!(true);
    expect(await answer).toBe(true);
  });

  it('does not wait for a host that does not answer', async () => {
    const review = new HostKeyReview(prompter, 300);
    review.begin();
    void review.ask(key('a'));
    await vi.advanceTimersByTimeAsync(200);
    void review.ask(key('b'));
    await vi.advanceTimersByTimeAsync(200);
    expect(asked).toEqual([]);
    await vi.advanceTimersByTimeAsync(100);
    expect(asked).toEqual([['a', 'b']]);
  });

  it('puts one question at a time, and the same one once', async () => {
    const review = new HostKeyReview(prompter, 300);
    const [first, again] = [review.ask(key('a')), review.ask(key('a'))];
    await flush();
    const later = [review.ask(key('a')), review.ask(key('b'))];
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([['a']]);
    answers[0]!(false);
    expect(await Promise.all([first, again, later[0]])).toEqual([false, false, false]);
    await flush();
    expect(asked).toEqual([['a'], ['b']]);
    answers[1]!(true);
    expect(await later[1]).toBe(true);
  });
});

describe('Watchdog', () => {
  it('takes a connection for dead when nothing came for three ticks, and not before', async () => {
    const sock = new PassThrough();
    const dead = vi.fn();
    const watchdog = new Watchdog(sock, 4000, dead);
    for (let seconds = 0; seconds < 40; seconds += 4) {
      sock.write('answer');
      await vi.advanceTimersByTimeAsync(4000);
    }
    expect(dead).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(11_999);
    expect(dead).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(dead).toHaveBeenCalledOnce();
    watchdog.stop();
  });

  it('lets an upload go on that a slow line keeps from answering', async () => {
    const sock = Object.assign(new PassThrough(), { bytesWritten: 0 });
    const dead = vi.fn();
    const watchdog = new Watchdog(sock, 4000, dead);
    for (let seconds = 0; seconds < 60; seconds += 4) {
      sock.bytesWritten += 10_000;
      await vi.advanceTimersByTimeAsync(4000);
    }
    expect(dead).not.toHaveBeenCalled();
    watchdog.stop();
  });
});

describe('Deadline', () => {
  it('does not count the time a person takes', async () => {
    const expired = vi.fn();
    const deadline = new Deadline(1000, expired);
    await vi.advanceTimersByTimeAsync(900);
    let answer: () => void = () => undefined;
    const waited = deadline.patiently(() => new Promise<void>((resolve) => (answer = resolve)));
    await vi.advanceTimersByTimeAsync(60_000);
    answer();
    await waited;
    await vi.advanceTimersByTimeAsync(999);
    expect(expired).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(expired).toHaveBeenCalledOnce();
  });
});

describe('ChannelGate', () => {
  const full = new Error('(SSH) Channel open failure: open failed');

  it('tries again when a channel is freed', async () => {
    const gate = new ChannelGate('gpu1');
    const request = vi.fn().mockRejectedValueOnce(full).mockResolvedValueOnce('channel');
    const opened = gate.open(request, () => false);
    await flush();
    expect(request).toHaveBeenCalledTimes(1);
    gate.free();
    expect(await opened).toBe('channel');
  });

  it('says after a while that all are in use', async () => {
    const gate = new ChannelGate('gpu1');
    const opened = gate
      .open(
        () => Promise.reject(full),
        () => false,
      )
      .catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(25_000);
    expect(String(await opened)).toContain('all channels of the connection to gpu1 are in use');
  });

  it('tries no other error again', async () => {
    const gate = new ChannelGate('gpu1');
    const request = vi.fn().mockRejectedValue(new Error('Connection refused'));
    await expect(gate.open(request, () => false)).rejects.toThrow('Connection refused');
    expect(request).toHaveBeenCalledOnce();
  });
});
