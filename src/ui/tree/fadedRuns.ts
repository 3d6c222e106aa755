// The colour of the labels of runs that are shown as they were.
import * as vscode from 'vscode';
import type { RunArgument } from '../../contributions.js';
import { faded } from './describeLast.js';

export class FadedRuns implements vscode.FileDecorationProvider {
  private static readonly scheme = 'trainyard-last-run';

  static uri({ profile, id }: Pick<RunArgument, 'profile' | 'id'>): vscode.Uri {
    return vscode.Uri.from({ scheme: FadedRuns.scheme, path: `/${profile}/${id}` });
  }

  provideFileDecoration(uri: vscode.Uri): vscode.FileDecoration | undefined {
    if (uri.scheme !== FadedRuns.scheme) return undefined;
    return new vscode.FileDecoration(undefined, undefined, new vscode.ThemeColor(faded));
  }
}
