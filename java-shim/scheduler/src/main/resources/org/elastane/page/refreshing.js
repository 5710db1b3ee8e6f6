// Refreshes the view that is shown, one round at a time, while the tab is visible.

import { fetchJson, Problem } from "./fetching.js";

const EVERY_MS = 5_000;
// A slow ResourceManager is asked less often: a tenth of the time at most is spent on answers.
const REST_FACTOR = 10;
const LONGEST_MS = 60_000;

export class Refreshing {
  #report;
  #view = null;
  #controller = new AbortController();
  #timer = 0;
  #isRunning = false;
  #isWanted = false;

  /** `report` gets the problems of each round. */
  constructor(report) {
    this.#report = report;
    document.addEventListener("visibilitychange", () => {
      clearTimeout(this.#timer);
      if (!document.hidden) {
        this.now();
      }
    });
  }

  /** Shows a view anew or another one: answers that are still to come are dropped. */
  show(view) {
    this.#controller.abort();
    this.#controller = new AbortController();
    if (view !== this.#view) {
      this.#view?.close?.();
    }
    this.#view = view;
    this.#isRunning = false;
    this.now();
  }

  /** A round at once, or directly after the one that runs. */
  now() {
    clearTimeout(this.#timer);
    if (this.#isRunning) {
      this.#isWanted = true;
    } else {
      this.#round(this.#view, this.#controller.signal);
    }
  }

  async #round(view, signal) {
    this.#isRunning = true;
    this.#isWanted = false;
    const problems = [];
    const began = performance.now();
    try {
      await view.refresh(asker(signal, problems));
    } catch (failure) {
      if (signal.aborted) {
        return;
      }
      console.error(failure);
      const words = `The page failed (${failure.message}): reload it, and report this line.`;
      problems.push(new Problem("", 0, words));
    }
    if (signal.aborted) {
      return;
    }
    this.#isRunning = false;
    this.#report(problems);
    if (this.#isWanted) {
      this.now();
    } else if (!document.hidden) {
      this.#timer = setTimeout(() => this.now(), pause(view, performance.now() - began));
    }
  }
}

/** The time until the next round. A view that costs much says in `everyMs` how often it is refreshed. */
function pause(view, tookMs) {
  return Math.min(LONGEST_MS, Math.max(view.everyMs ?? EVERY_MS, REST_FACTOR * tookMs));
}

/**
 * A function that asks the REST. Without an answer it gives null and notes the problem, so that a
 * view keeps what it shows. A status in `expected` is returned as a Problem instead.
 */
function asker(signal, problems) {
  return async (path, parameters = {}, expected = []) => {
    try {
      const answer = await fetchJson(path, parameters, signal);
      signal.throwIfAborted();
      return answer;
    } catch (problem) {
      if (!(problem instanceof Problem)) {
        throw problem;
      }
      if (expected.includes(problem.status)) {
        return problem;
      }
      problems.push(problem);
      return null;
    }
  };
}
