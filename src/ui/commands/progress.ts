// A long act with a notification that tells how far it is, and that can be given up.
import * as vscode from 'vscode';
import { Cancelled } from '../../core/base/errors.js';
import { sharedAbort } from '../../core/base/lifecycle.js';
import type { Progress } from '../../core/base/progress.js';

export function withProgress<T>(title: string, act: (progress: Progress) => Promise<T>): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  const work = vscode.window.withProgress(options, async (report, token) => {
    const abort = sharedAbort();
    const subscription = token.onCancellationRequested(() => {
      abort.abort(new Cancelled());
    });
    try {
      return await act({
        onProgress: (message) => {
          report.report({ message });
        },
        signal: abort.signal,
      });
    } finally {
      subscription.dispose();
    }
  });
  return Promise.resolve(work);
}
