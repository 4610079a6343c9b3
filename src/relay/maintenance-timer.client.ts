// Schedules a relay's maintenance of links, minutes and sockets. Setting an alarm is a write, and a write delays every
// frame behind it. So a timer runs while frames arrive, and a distant alarm only wakes an object that lost its memory.
// A timer keeps a relay awake, so it stops when no frames arrive; then only alarms run.

import { logEvent } from '../core/log.client.ts'
import { after } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'

const BUSY_MS = 5000
const IDLE_MS = 10_000
const WATCHDOG_MS = 60_000

interface Alarms {
  getAlarm(): Promise<number | null>
  setAlarm(atMs: number, options: { readonly allowUnconfirmed: true }): Promise<void>
}

export class MaintenanceTimer {
  readonly #storage: Alarms
  readonly #waitUntil: WaitUntil
  readonly #nowMs: () => number
  #state: () => 'busy' | 'idle' | 'none' = () => 'none'
  #tasks: readonly (() => void)[] = []
  #alarmMs: number | null = null
  #isTicking = false
  /** A frame arrived since the timer started. */
  #hasFrames = false

  constructor(storage: Alarms, waitUntil: WaitUntil, nowMs: () => number) {
    this.#storage = storage
    this.#waitUntil = waitUntil
    this.#nowMs = nowMs
  }

  /**
   * Call it once when the object starts. An existing alarm stays, because setting it again would postpone it forever.
   * `state` returns `busy` while subscriptions run and `idle` while there is anything to maintain. If a task fails, the
   * others still run.
   */
  async start(state: () => 'busy' | 'idle' | 'none', tasks: readonly (() => void)[]): Promise<void> {
    this.#state = state
    this.#tasks = tasks
    this.#alarmMs = await this.#storage.getAlarm()
    this.schedule()
  }

  /** A frame arrived from the log or a hub. */
  onFrame(): void {
    this.#hasFrames = true
    if (!this.#isTicking) this.#tick()
  }

  /** Schedules the next check. Call it after any state change. */
  schedule(): void {
    const state = this.#state()
    if (state === 'none') return
    const isBusy = state === 'busy'
    const at = this.#nowMs() + (isBusy && this.#isTicking ? WATCHDOG_MS : isBusy ? BUSY_MS : IDLE_MS)
    if (this.#alarmMs !== null && this.#alarmMs <= at) return
    this.#alarmMs = at
    // If this write is lost with the object, its sockets are lost too, and the next event sets an alarm.
    this.#waitUntil(this.#storage.setAlarm(at, { allowUnconfirmed: true }))
  }

  /** Schedules the next alarm first, because the platform drops an alarm that fails too often. */
  onAlarm(): void {
    this.#alarmMs = null
    this.schedule()
    this.#runTasks()
  }

  #runTasks(): void {
    for (const task of this.#tasks) {
      try {
        task()
      } catch (error) {
        logEvent('relay_task_failed', { error })
      }
    }
  }

  #tick(): void {
    this.#isTicking = true
    this.#hasFrames = false
    after(BUSY_MS, () => {
      this.#isTicking = false
      this.#runTasks()
      if (this.#hasFrames && this.#state() === 'busy') this.#tick()
      this.schedule()
    })
  }
}
