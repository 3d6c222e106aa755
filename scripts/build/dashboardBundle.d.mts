/** esbuild's options for the dashboard's page, beside those that every bundle has. */
export declare const dashboardBundle: Record<string, unknown>;
