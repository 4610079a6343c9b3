// When a relay looks after its links, minutes and sockets. An alarm is a write, and a write holds back every frame behind
// it: while frames come a timer does it, and the alarm, far away, only wakes an object whose memory was lost. A timer
// keeps a relay awake: where no frames come it ends, and alarms alone look after what there is.

import { after } from '../core/timers.client.ts'
import type { WaitUntil } from '../core/wait-until.ts'

const BUSY_MS = 5000
const IDLE_MS = 10_000
const WATCHDOG_MS = 60_000

interface Alarms {
  getAlarm(): Promise<number | null>
  setAlarm(atMs: number): Promise<void>
}

export class MaintenanceTimer {
  readonly #storage: Alarms
  readonly #waitUntil: WaitUntil
  readonly #nowMs: () => number
  #state: () => 'busy' | 'idle' | 'none' = () => 'none'
  #tasks: readonly (() => void)[] = []
  #alarmMs: number | null = null
  #isTicking = false
  /** A frame came since the timer began. */
  #hasFrames = false

  constructor(storage: Alarms, waitUntil: WaitUntil, nowMs: () => number) {
    this.#storage = storage
    this.#waitUntil = waitUntil
    this.#nowMs = nowMs
  }

  /**
   * Once, when the object begins. An alarm that was set before stays: to set it anew would put it off for ever. `state`
   * answers `busy` while subscriptions run, `idle` while there is something to look after; where one of `duties` fails, the
   * others go on.
   */
  async start(state: () => 'busy' | 'idle' | 'none', duties: readonly (() => void)[]): Promise<void> {
    this.#state = state
    this.#tasks = duties
    this.#alarmMs = await this.#storage.getAlarm()
    this.schedule()
  }

  /** A frame came from the log or a hub. */
  onFrame(): void {
    this.#hasFrames = true
    if (!this.#isTicking) this.#tick()
  }

  /** Sees to it that somebody looks in time; to be called when something came that was not there. */
  schedule(): void {
    const state = this.#state()
    if (state === 'none') return
    const isBusy = state === 'busy'
    const at = this.#nowMs() + (isBusy && this.#isTicking ? WATCHDOG_MS : isBusy ? BUSY_MS : IDLE_MS)
    if (this.#alarmMs !== null && this.#alarmMs <= at) return
    this.#alarmMs = at
    this.#waitUntil(this.#storage.setAlarm(at))
  }

  /** The alarm went. First of all the next one: an alarm that fails too often is dropped for good. */
  onAlarm(): void {
    this.#alarmMs = null
    this.schedule()
    this.#runTasks()
  }

  #runTasks(): void {
    for (const duty of this.#tasks) {
      try {
        duty()
      } catch (error) {
        console.error('relay duty failed', error)
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
