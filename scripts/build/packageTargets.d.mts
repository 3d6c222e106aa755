export declare const ptyFiles: Readonly<Record<string, readonly string[]>>;
export declare const targets: readonly string[];
export declare function filesOf(target: string): string[];
