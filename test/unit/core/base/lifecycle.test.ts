import { describe, expect, it } from 'vitest';
import { DisposableStore, Emitter } from '../../../../src/core/base/lifecycle.js';

describe('DisposableStore', () => {
  it('releases in reverse order, once', () => {
    const order: number[] = [];
    const store = new DisposableStore();
    store.defer(() => order.push(1));
    store.defer(() => order.push(2));
    store.dispose();
    store.dispose();
    expect(order).toEqual([2, 1]);
    expect(store.isDisposed).toBe(true);
  });

  it('releases the others when one throws, and says so', () => {
    const released: string[] = [];
    const store = new DisposableStore();
    store.defer(() => released.push('first'));
    store.defer(() => {
      throw new Error('stuck');
    });
    expect(() => {
      store.dispose();
    }).toThrow('stuck');
    expect(released).toEqual(['first']);
  });

  it('releases at once what is added too late', () => {
    const store = new DisposableStore();
    store.dispose();
    let released = false;
    store.defer(() => (released = true));
    expect(released).toBe(true);
  });
});

describe('Emitter', () => {
  it('delivers to each listener until it is disposed of', () => {
    const emitter = new Emitter<number>();
    const seen: string[] = [];
    const first = emitter.event((value) => seen.push(`a${value}`));
    emitter.event((value) => seen.push(`b${value}`));
    emitter.fire(1);
    first.dispose();
    emitter.fire(2);
    emitter.dispose();
    emitter.fire(3);
    expect(seen).toEqual(['a1', 'b1', 'b2']);
    expect(emitter.listenerCount).toBe(0);
  });

  it('does not deliver to a listener that another removed during the same value', () => {
    const emitter = new Emitter<number>();
    const seen: number[] = [];
    emitter.event(() => {
      second.dispose();
    });
    const second = emitter.event((value) => seen.push(value));
    emitter.fire(1);
    expect(seen).toEqual([]);
  });

  it('keeps the value from nobody when a listener throws, and rethrows', async () => {
    const emitter = new Emitter<number>();
    const seen: number[] = [];
    const rethrown = new Promise<unknown>((resolve) => {
      const listeners = process.listeners('uncaughtException');
      process.removeAllListeners('uncaughtException');
      process.once('uncaughtException', (error) => {
        for (const listener of listeners) process.on('uncaughtException', listener);
        resolve(error);
      });
    });
    emitter.event(() => {
      throw new Error('bad listener');
    });
    emitter.event((value) => seen.push(value));
    emitter.fire(7);
    expect(seen).toEqual([7]);
    expect(await rethrown).toMatchObject({ message: 'bad listener' });
  });
});
