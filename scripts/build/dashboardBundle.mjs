// How the pages of dashboard, comparison and run form are bundled; the build, their tests and the
// benchmark use the same.
/** @import { BuildOptions } from 'esbuild' */

/**
 * esbuild's options, beside those that every bundle has.
 * @satisfies {BuildOptions}
 */
export const dashboardBundle = {
  bundle: true,
  platform: 'browser',
  target: 'es2022',
  format: 'iife',
  mainFields: ['browser', 'module', 'main'],
  entryPoints: [
    { in: 'src/webview/dashboard/main.ts', out: 'dashboard' },
    { in: 'src/webview/dashboard/dashboard.css', out: 'dashboard' },
    { in: 'src/webview/compare/main.ts', out: 'compare' },
    { in: 'src/webview/compare/compare.css', out: 'compare' },
    { in: 'src/webview/form/main.ts', out: 'form' },
    { in: 'src/webview/form/form.css', out: 'form' },
  ],
  outdir: 'dist/webview',
  loader: { '.ttf': 'file' }, // the icons' font, beside the style sheet that names it
  assetNames: '[name]',
};
