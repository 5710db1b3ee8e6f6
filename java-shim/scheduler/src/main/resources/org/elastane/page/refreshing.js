// Refreshes the view that is shown, one round at a time, while the tab is visible.

import { fetchJson, Problem } from "./fetching.js";

const EVERY_MS = 5_000;

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

  /** Shows another view: what the former one still waits for is dropped. */
  show(view) {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.#view?.close?.();
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
    try {
      await view.refresh(asker(signal, problems));
    } catch (failure) {
      if (signal.aborted) {
        return;
      }
      console.error(failure);
      problems.push(`The page failed (${failure.message}): reload it, and report this line.`);
    }
    if (signal.aborted) {
      return;
    }
    this.#isRunning = false;
    this.#report(problems);
    if (this.#isWanted) {
      this.now();
    } else if (!document.hidden) {
      this.#timer = setTimeout(() => this.now(), EVERY_MS);
    }
  }
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
