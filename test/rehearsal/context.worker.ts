// What the platform calls an I/O context: one request of a Worker, or the whole life of an object. It has the clock, the
// counts and, for an object, the output gate. Code finds its own by AsyncLocalStorage.

import { waitUntil } from 'cloudflare:workers'
import { AsyncLocalStorage } from 'node:async_hooks'
import { FrozenClock } from './frozen-clock.ts'
import { EventCounts, LIMITS } from './limits.ts'
import { commitMs, OutputGate } from './output-gate.ts'
import { oneWayMs, type Place } from './places.ts'
import { COLLECTOR, type PlaceRequest, type RehearsalSettings, SETTINGS } from './settings.ts'

export type Env = Readonly<Record<string, unknown>>

// Captured before they are replaced.
const realDateNow = Date.now.bind(Date)
const realSetTimeout = setTimeout.bind(globalThis)

export const realMs = (): number => realDateNow()
const sleep = (ms: number): Promise<void> => new Promise((resolve) => void realSetTimeout(resolve, ms))

let settings: RehearsalSettings = {
  place: 'weur',
  storePlace: 'weur',
  scale: 0,
  commitScale: 0,
  limits: LIMITS,
  kvStaleMs: 0,
  bindings: {},
}
let collector: Fetcher | null = null

export const settingsOf = (): RehearsalSettings => settings

/** Called with the environment at the start of every event: there is none before. */
export function configure(env: Env): void {
  if (collector !== null) return
  collector = env[COLLECTOR] as Fetcher
  settings = JSON.parse(env[SETTINGS] as string) as RehearsalSettings
}

/** Asks the collector, which sees all isolates. */
export async function ask(path: string, body: unknown): Promise<string> {
  const answer = await collector!.fetch(`http://rehearsal/${path}`, { method: 'POST', body: JSON.stringify(body) })
  return answer.text()
}

function report(text: string): void {
  waitUntil(ask('violation', text))
}

export class Context {
  /** Null: of an object whose place is not known yet. */
  place: Place | null
  readonly clock = new FrozenClock(realMs)
  readonly gate: OutputGate | null
  counts: EventCounts
  readonly #sends: { readonly atMs: Promise<void>; readonly run: () => void }[] = []

  /** `place`: of a Worker; null: of an object. */
  constructor(event: string, place: Place | null) {
    this.place = place
    this.counts = this.#counts(event)
    this.gate =
      place === null
        ? new OutputGate({ realMs, sleep, commitMs: () => settings.commitScale * commitMs(Math.random()) })
        : null
  }

  /** Runs an event; a later event of the same object has all limits again. */
  enter<T>(event: string, run: () => T): T {
    this.counts = this.#counts(event)
    this.clock.advance()
    return current.run(this, run)
  }

  /** Sends now, or in order once the output gate opens. */
  send(run: () => void): void {
    if (this.gate === null || (this.#sends.length === 0 && this.gate.isOpen)) return run()
    this.#sends.push({ atMs: this.gate.passed(), run })
    if (this.#sends.length === 1) void this.#sendAll()
  }

  async #sendAll(): Promise<void> {
    for (let next = this.#sends[0]; next; next = this.#sends[0]) {
      await next.atMs
      try {
        next.run()
      } catch {
        // The socket was closed meanwhile.
      }
      this.#sends.shift()
    }
  }

  #counts(event: string): EventCounts {
    return new EventCounts(event, settings.limits, this.clock, report)
  }
}

export const current = new AsyncLocalStorage<Context>()

interface Io {
  /** Null: no latency. */
  readonly to: Place | null
  /** True: it waits for response headers, and the platform counts these waits. */
  readonly isConnection: boolean
}

/** A call that leaves the isolate: it is counted, waits for the output gate and takes its time; then the clock advances. */
export async function io<T>({ to, isConnection }: Io, call: () => Promise<T>): Promise<T> {
  const context = current.getStore()
  if (context === undefined) return call()
  const { counts, gate, clock } = context
  counts.spend()
  counts.subrequest()
  const release = isConnection ? counts.connect() : null
  try {
    if (gate !== null && !gate.isOpen) await gate.passed()
    const ms = to === null ? 0 : settings.scale * oneWayMs(context.place ?? to, to)
    if (ms > 0) await sleep(ms)
    const result = await call()
    if (ms > 0) await sleep(ms)
    return result
  } finally {
    release?.()
    clock.advance()
  }
}

const places = new Map<string, Place>()

/** Where an object is: where it was first called with a hint, or from. */
export async function placeOfObject(object: string, hint?: string): Promise<Place> {
  const known = places.get(object)
  if (known !== undefined) return known
  const from = current.getStore()?.place ?? settings.place
  const place = (await ask('place', { object, hint, from } satisfies PlaceRequest)) as Place
  places.set(object, place)
  return place
}
