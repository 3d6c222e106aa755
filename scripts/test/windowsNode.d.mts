export declare function ensureWindowsNode(): void;

export declare function findWindowsNode():
  { wine: string; node: string; reason?: undefined } | { reason: string };
