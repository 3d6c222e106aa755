export declare function ensureStrace(): { program: string; env: Record<string, string> };
