// The output gate of an object: after a confirmed write, nothing leaves the object until the write has been replicated.
// An unconfirmed write holds nothing back; only `sync` waits for it.

interface OutputGateOptions {
  readonly realMs: () => number
  readonly sleep: (ms: number) => Promise<void>
  /** Duration of one replication. */
  readonly commitMs: () => number
}

export class OutputGate {
  readonly #options: OutputGateOptions
  #closedUntilMs = 0
  #durableAtMs = 0

  constructor(options: OutputGateOptions) {
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#options.realMs() >= this.#closedUntilMs
  }

  wrote(isConfirmed: boolean): void {
    const nowMs = this.#options.realMs()
    // Writes of the same moment are replicated together.
    const commitMs = nowMs < this.#durableAtMs ? MEDIAN_COMMIT_MS : this.#options.commitMs()
    this.#durableAtMs = Math.max(this.#durableAtMs, nowMs + commitMs)
    if (isConfirmed) this.#closedUntilMs = this.#durableAtMs
  }

  /** Resolves once all confirmed writes so far have been replicated. */
  passed(): Promise<void> {
    return this.#until(this.#closedUntilMs)
  }

  /** The same for all writes. */
  synced(): Promise<void> {
    return this.#until(this.#durableAtMs)
  }

  async #until(atMs: number): Promise<void> {
    for (let leftMs = atMs - this.#options.realMs(); leftMs > 0; leftMs = atMs - this.#options.realMs())
      await this.#options.sleep(leftMs)
  }
}

const MEDIAN_COMMIT_MS = 15
const SLOW_COMMIT_MS = 150

/** 15 ms, and 150 ms once in a hundred times. */
export function commitMs(random: number): number {
  return random < 0.01 ? SLOW_COMMIT_MS : MEDIAN_COMMIT_MS
}
