// What mode enforce would win: a replay of the record, which the ResourceManager makes once somebody presses the button.

import { AdviceResult } from "./advice-result.js";
import { duration, moment } from "./amounts.js";
import { element, section, setText } from "./element.js";
import { fetchJson, Problem } from "./fetching.js";

const EVERY_MS = 2_000;
const MODE = "advise";
const WORK_OUT = "Work it out";
const WORKING = "Working it out…";
// The answer is waited for while another view is shown, too.
const NEVER = new AbortController().signal;

export class AdviceSection {
  /** Whether the caller may ask; null while this is not known. */
  #isAllowed = null;
  #isWorking = false;
  #result = new AdviceResult();
  #told = element("p", { role: "status", "aria-live": "polite" });
  #button = element("button", { type: "button", onclick: () => this.#workOut() }, WORK_OUT);
  root = section(
    "What enforce would win",
    element(
      "p",
      { className: "note" },
      "Mode advise records what applications do. The button replays the record as CapacityScheduler and in " +
        "mode enforce. The replay keeps one CPU core of the ResourceManager's machine busy for seconds or minutes.",
    ),
    this.#button,
    this.#told,
    this.#result.root,
  );

  constructor() {
    this.root.hidden = true;
  }

  /** Shows the section or hides it, by the modes of the cluster and of its queues. Starts no replay. */
  async refresh(ask, { mode }, queues) {
    if (mode === undefined) {
      return; // The core gives no answer now.
    }
    const isRecording = [mode, ...queues.map((it) => it.mode)].includes(MODE);
    if (isRecording && this.#isAllowed === null) {
      // Whoever may see the profiles may ask for this.
      const answer = await ask("profiles", { limit: 1 }, [403, 503]);
      this.#isAllowed = answer instanceof Problem ? (answer.status === 403 ? false : null) : answer && true;
    }
    const isWanted = isRecording || this.#isWorking || !this.#result.root.hidden;
    this.root.hidden = !this.#isAllowed || !isWanted;
  }

  async #workOut() {
    if (this.#isWorking) {
      return;
    }
    this.#setWorking(true);
    try {
      this.#show(await this.#finished());
    } catch (failure) {
      this.#fail(failure);
    } finally {
      this.#setWorking(false);
    }
  }

  /** The answer once the replay is finished that the first question started or found under way. */
  async #finished() {
    let first = null;
    for (;;) {
      const answer = await this.#ask();
      first ??= answer;
      // A replay that takes long may be followed by another one at once.
      const isNewer = answer?.advice?.as_of_ms !== first?.advice?.as_of_ms;
      if (answer && (!answer.is_working || isNewer)) {
        return answer;
      }
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    }
  }

  /** Null while the core gives no answer. */
  async #ask() {
    try {
      const answer = await fetchJson("advice", {}, NEVER);
      setText(this.#told, "The record is being replayed. The figures appear here.");
      return answer;
    } catch (problem) {
      if (problem.status !== 503) {
        throw problem;
      }
      setText(this.#told, problem.words);
      return null;
    }
  }

  #show({ is_recording: isRecording, advice, failure }) {
    if (advice) {
      this.#result.show(advice);
      const took = duration(1000 * Math.max(1, advice.took_s));
      setText(this.#told, `Worked out from the record up to ${moment(advice.as_of_ms)}, in ${took}.`);
    } else {
      const noReplay = failure ?? "no replay was finished";
      const why = isRecording ? noReplay : `mode ${MODE} is not set, so nothing is recorded`;
      setText(this.#told, `There are no figures: ${why}.`);
    }
  }

  #fail(failure) {
    if (!(failure instanceof Problem)) {
      console.error(failure);
      setText(this.#told, `The page failed (${failure.message}): reload it, and report this line.`);
      return;
    }
    setText(this.#told, failure.words);
    if (failure.status === 403) {
      this.#isAllowed = false;
      this.root.hidden = true;
    }
  }

  /** The button keeps the focus, so it is not disabled. */
  #setWorking(isWorking) {
    this.#isWorking = isWorking;
    this.#button.setAttribute("aria-disabled", isWorking);
    setText(this.#button, isWorking ? WORKING : WORK_OUT);
  }
}
