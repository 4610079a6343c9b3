// Manual clock for the lease pool.

import type { LeaseClock } from '../../src/metering/leases.client.ts'

/** Advances on request; sleepers wake in order. */
export class ManualClock implements LeaseClock {
  now: number
  #ids = 0
  #sleepers: { atMs: number; wake: () => void }[] = []

  constructor(now = 1_000_000) {
    this.now = now
  }

  nowMs = () => this.now
  newId = () => `lease ${this.#ids++}`
  sleep = (ms: number) => new Promise<void>((wake) => this.#sleepers.push({ atMs: this.now + ms, wake }))

  async advance(ms: number): Promise<void> {
    const end = this.now + ms
    for (;;) {
      await settled()
      const next = this.#sleepers.filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#sleepers = this.#sleepers.filter((sleeper) => sleeper !== next)
      this.now = next.atMs
      next.wake()
    }
    this.now = end
  }
}

/** Resolves after all work that needs no time. */
async function settled(): Promise<void> {
  for (let i = 0; i < 2; i++) await new Promise((resolve) => setImmediate(resolve))
}
