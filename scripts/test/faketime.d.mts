export declare function ensureFaketime(): string;
