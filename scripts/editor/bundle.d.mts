export declare function bundleEditorTests(): Promise<{ driver: string; suite: string }>;
