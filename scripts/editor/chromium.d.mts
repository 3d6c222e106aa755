export declare const chromiumFlags: string[];
export declare function ensureChromium(): string;
