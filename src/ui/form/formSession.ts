// What stands behind the run form: its values, the profile's machine, and all that the page shows.
import { isCancelled } from '../../core/base/errors.js';
import { DisposableStore, Emitter, type Disposable } from '../../core/base/lifecycle.js';
import { dataFlags } from '../../core/cluster/dataFlags.js';
import { contentText, dataOfForm } from '../../core/cluster/formData.js';
import type { Machine } from '../../core/cluster/nodes/machine.js';
import type { ClusterSession } from '../../core/follow/clusterSession.js';
import { commandLineOf, type AskedRun } from '../../core/plan/request/commandLine.js';
import { askedRun, emptyForm, formOf, type RunFormValues } from '../../core/plan/form/runForm.js';
import { checkForm, type CheckedForm } from '../../core/plan/form/runFormCheck.js';
import { withTrainDefaults } from '../../core/plan/request/trainDefaults.js';
import type { FormView } from '../../webview/formProtocol.js';
import type { Backend } from '../backend.js';
import { errorWords } from '../remedies.js';
import type { Services } from '../services.js';
import { ClusterFigures } from '../tree/clusterFigures.js';
import { recentRuns } from '../recentRuns.js';
import { FormBrowser } from './formBrowser.js';
import { FormData } from './formData.js';
import { HoldingOut, holdOutCommand, validationOf, type HoldOut } from './formValidation.js';
import { FormOffers } from './formOffers.js';
import { slurmFields } from './formSlurm.js';
import { withoutLostHosts } from './lostHosts.js';
import {
  batchOf,
  budgetOf,
  connectionOf,
  connectionText,
  flagSuggestions,
  formNodes,
  modelChoices,
  optionsOf,
  originText,
  placeText,
  problemsText,
  profileChoices,
  usualNodes,
  waitingText,
} from './formView.js';
import { workspaceFolder } from '../workspace/workspace.js';
import type { FormStart } from './runForms.js';
import { runSources, type FormSource } from './formSources.js';
import { FormPresets } from './formPresets.js';

const draftKey = 'trainyard.runForm';

export class FormSession implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changes = new Emitter<'values' | 'view'>();
  private readonly changed = (): void => {
    if (!this.store.isDisposed) this.changes.fire('view');
  };
  private form: RunFormValues;
  /** It began like another run. */
  private readonly isLike: boolean;
  private sessions: readonly ClusterSession[] = [];
  private machine: Machine | undefined;
  private figures: ClusterFigures | undefined;
  readonly presets = this.store.add(new FormPresets(this.changed));
  private readonly data = this.store.add(
    new FormData(this.changed, (error) => {
      this.services.logger.log('info', `the data was not looked at: ${errorWords(error)}`);
    }),
  );
  private readonly browser = new FormBrowser(this.changed);
  private readonly holding = new HoldingOut();
  private readonly offers = new FormOffers(this.changed, (what, error) => {
    this.services.logger.log('info', `${what}: ${errorWords(error)}`);
  });
  /** Whose machine was looked at last, and how often one was. */
  private looked: ClusterSession | undefined;
  private looks = 0;
  /** Why the session that was looked at could not be connected. */
  private problem = '';
  private tried = false;
  private shown = false;
  /** What the last button did. */
  said = { text: '', isError: false };
  starting = false;

  /** `values`: the page's own are out of date. */
  readonly onChange = this.changes.event;

  constructor(
    private readonly services: Services,
    private readonly backend: Backend,
    from: FormStart | undefined,
  ) {
    const usual = services.setting('trainyard.defaultProfile') || 'local';
    const draft = services.context.workspaceState.get<RunFormValues>(draftKey);
    const blank = emptyForm(typeof from === 'string' ? from : usual);
    this.isLike = typeof from === 'object';
    if (typeof from === 'object') {
      this.form = formOf(from);
      void services.context.workspaceState.update(draftKey, this.form); // a reload of the window finds it
    } else if (draft === undefined) this.form = blank;
    else this.form = { ...blank, ...draft, ...(from === undefined ? {} : { profile: from }) };
    this.store.defer(() => {
      this.figures?.dispose();
    });
    this.store.add(backend.monitor.onChange(this.changed));
    this.store.add(
      backend.clusters.onChange(() => {
        this.follow();
      }),
    );
  }

  get values(): RunFormValues {
    return this.form;
  }

  /** Reads the profiles and, where its machine is there, looks at it. */
  async begin(): Promise<void> {
    await this.presets.read();
    await this.readProfiles();
    if (!this.session && this.sessions[0]) {
      this.form = { ...this.form, profile: this.sessions[0].profile.name };
    }
    if (this.isLike) this.leaveLostHosts();
    this.changes.fire('values');
    this.lookAnew();
  }

  /** While nobody sees the page, nothing is asked. */
  show(shown: boolean): void {
    this.shown = shown;
    if (shown) this.figures?.start();
    else this.figures?.stop();
  }

  change(values: RunFormValues): void {
    const { profile } = this.form;
    this.form = values;
    this.said = { text: '', isError: false };
    void this.services.context.workspaceState.update(draftKey, values);
    if (values.profile === profile) this.watchData();
    this.changed();
    if (values.profile !== profile) this.follow();
    else if (this.machine) this.askFlags(this.machine);
  }

  /** Takes over what a source has; the profile too. */
  load(source: string): void {
    const found = this.sources().find(({ value }) => value === source);
    if (!found) return;
    this.fill(found.run());
  }

  fill(from: FormStart): void {
    if (typeof from === 'string') this.replace({ ...this.form, profile: from });
    else {
      this.replace(formOf(from));
      this.leaveLostHosts();
    }
  }

  /** New values, which the page does not have. */
  replace(values: RunFormValues): void {
    this.change(values);
    this.changes.fire('values');
  }

  async connect(): Promise<void> {
    await this.readProfiles();
    const { session } = this;
    if (!session) return;
    this.problem = '';
    try {
      await session.machine();
    } catch (error) {
      if (!isCancelled(error) && session === this.session) this.problem = errorWords(error);
    }
    this.lookAnew();
    this.changed();
  }

  lookInto(path: string): Promise<void> {
    return this.browser.look(this.machine, path);
  }

  /** The folder as data, with its parts where it has any. */
  async take(path: string): Promise<void> {
    const { machine } = this;
    if (!machine) return;
    const folder = path.replace(/\/$/, '') || path;
    const [, data = folder, , evalData = ''] = await dataFlags(machine, folder);
    this.browser.close();
    this.replace({ ...this.form, data, evalData });
    this.data.lookAgain();
  }

  /** The halves that were found, as training and validation images. */
  takeHalves(): void {
    const { halves } = this.data;
    if (halves) this.replace({ ...this.form, ...halves });
  }

  /** A part of the images for validation, made by `act`; then the fields are filled in. */
  holdOut(act: HoldOut): Promise<void> {
    const { whole } = this.data;
    return whole ? this.holding.run(this, whole, act) : Promise.resolve();
  }

  /** A command that does the same. */
  holdOutCommand(): string {
    return holdOutCommand(this.form, this.data.content?.images);
  }

  /** Whether the error is one of the data; then it stands at its field. */
  refuse(error: unknown): boolean {
    if (!this.data.refuse(error, this.form)) return false;
    this.say('Nothing was started: correct what is marked.', true);
    return true;
  }

  /** What a start would start. `said` says why it would not: `without` of what was to be done. */
  asked(without = 'Nothing was started'): AskedRun | undefined {
    const checked = this.check();
    const { session } = this;
    this.tried = true;
    const lacks = Object.keys(this.data.problems(this.form, this.session?.profile)).length > 0;
    if (!session || !checked || checked.problems.length > 0 || lacks) {
      this.say(`${without}: correct what is marked.`, true);
      return undefined;
    }
    return askedRun(this.form, session.profile);
  }

  /** The run with what its profile adds to a training. */
  withDefaults(run: AskedRun): AskedRun {
    return this.session ? withTrainDefaults(run, this.session.profile) : run;
  }

  say(text: string, isError = false): void {
    this.said = { text, isError };
    this.changed();
  }

  commandLine(): string {
    const checked = this.check();
    const { session } = this;
    if (!session || !checked || checked.problems.length > 0) return '';
    const run = this.withDefaults(askedRun(this.form, session.profile));
    return commandLineOf({ ...run, detached: run.wait === true }); // as what Start Run starts
  }

  get isConnected(): boolean {
    return this.machine !== undefined;
  }

  get isHere(): boolean {
    return this.session?.profile.kind === 'local';
  }

  async view(): Promise<FormView> {
    const { form, session, figures } = this;
    const flags = this.offers.flags(form.profile);
    const checked = this.check();
    const hosts = figures?.hosts ?? [];
    const { content } = this.data;
    const lacks = this.data.problems(form, this.session?.profile);
    const [lack] = Object.values(lacks);
    const place =
      lack !== undefined || this.data.isLooking
        ? waitingText(lack)
        : checked && 'request' in checked
          ? await placeText(checked.request, hosts)
          : undefined;
    return {
      profiles: profileChoices(this.sessions, form.profile),
      sources: this.sources().map(({ value, label, group }) => ({ value, label, group })),
      presetProblem: this.presets.problem === undefined ? '' : errorWords(this.presets.problem),
      keepsPresets: this.presets.file !== undefined,
      models: modelChoices(flags, form.model),
      options: optionsOf(flags, form),
      isHere: this.isHere,
      connection: connectionOf(session, this.machine),
      connectionText: this.machine ? '' : connectionText(session, this.problem),
      usualNodes: session ? usualNodes(session.profile) : '',
      budget: session ? budgetOf(session.profile) : null,
      slurm: session ? slurmFields(session.profile, form, this.offers.partitions(form.profile)) : [],
      origin: originText(form.weights, form.profile, this.backend.monitor.all),
      nodes: session?.profile.kind === 'slurm' ? [] : formNodes(hosts),
      placeText: place?.text ?? '',
      placeTitle: place?.title ?? '',
      problems: {
        ...place?.problems,
        ...lacks,
        ...problemsText(checked?.problems ?? [], this.tried),
        ...(session || this.sessions.length === 0
          ? {}
          : { profile: 'There is no such profile. Choose another one.' }),
      },
      command: this.commandLine(),
      suggestions: flags ? flagSuggestions(form.flags, flags) : [],
      folder: this.browser.folder,
      dataText: content ? contentText(content, batchOf(form, flags, place?.ranks)) : '',
      validation: validationOf(form, lacks['data'], {
        found: this.data.halves?.evalData ?? '',
        holdOut: this.holding.isBusy ? 'busy' : this.data.whole ? 'can' : 'no',
        command: this.holdOutCommand(),
      }),
      starting: this.starting,
      said: this.said.text,
      saidIsError: this.said.isError,
    };
  }

  dispose(): void {
    this.store.dispose();
    this.changes.dispose();
  }

  private leaveLostHosts(): void {
    const left = this.session && withoutLostHosts(this.form, this.session.profile);
    if (!left) return;
    this.replace(left.values);
    this.say(left.said, true);
  }

  private watchData(): void {
    const { session, form, machine } = this;
    this.data.watch(machine, session ? dataOfForm(form, session.profile, workspaceFolder()) : []);
  }

  private get session(): ClusterSession | undefined {
    return this.sessions.find(({ profile }) => profile.name === this.form.profile);
  }

  private sources(): readonly FormSource[] {
    return runSources(this.presets.all, this.form.profile, recentRuns(this.services), this.backend);
  }

  private check(): CheckedForm | undefined {
    const { session, form } = this;
    if (!session) return undefined;
    return checkForm(form, session.profile, {
      flags: this.offers.flags(form.profile),
      cwd: workspaceFolder(),
    });
  }

  /** After profiles or connections changed; what is filled in stays. */
  private follow(): void {
    this.lookAnew();
    this.changed();
    this.readProfiles().catch((error: unknown) => {
      this.services.logger.log('info', `the form's profiles stay as they were: ${errorWords(error)}`);
    });
  }

  private async readProfiles(): Promise<void> {
    this.sessions = await this.backend.clusters.list();
    if (this.store.isDisposed) return;
    this.lookAnew();
    this.changed();
  }

  /** Where the profile's session, or its connection, is another one than was looked at. */
  private lookAnew(): void {
    const { session } = this;
    if (session !== this.looked || session?.connected !== this.machine) void this.look();
  }

  /** At the machine of the profile, where it is connected; this machine always is. */
  private async look(): Promise<void> {
    const { session } = this;
    const look = ++this.looks;
    this.figures?.dispose();
    this.figures = undefined;
    if (session !== this.looked) this.problem = '';
    this.looked = session;
    this.machine = session?.connected;
    this.browser.close();
    if (session && !this.machine && this.isHere && !session.isLeft) {
      try {
        await session.machine(); // its new state makes the form look again
      } catch (error) {
        if (look === this.looks) this.problem = errorWords(error);
      }
      if (look !== this.looks) return;
    }
    if (this.machine) {
      this.problem = '';
      this.figures = new ClusterFigures(this.machine.nodes, this.changed);
      if (this.shown) this.figures.start();
      this.askFlags(this.machine);
      void this.offers.askPartitions(this.form.profile, this.machine);
    }
    this.watchData();
    this.changed();
  }

  private askFlags(machine: Machine): void {
    if (this.form.what === 'train') void this.offers.askFlags(this.form.profile, machine);
  }
}
