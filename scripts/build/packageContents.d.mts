export declare function judgeNames(target: string, names: readonly string[]): string[];
export declare function judgeBytes(name: string, bytes: Buffer): string[];
