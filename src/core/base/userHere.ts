import { hostname, userInfo } from 'node:os';

/** Who asks, for people on the other side: `ada@laptop`. */
export const userHere = (): string => `${userInfo().username}@${hostname()}`;
