// Durable Objects in one process and in virtual time: the real classes on a small platform. Invariants, as on the
// platform: one object per name at a time; calls on one stub arrive in order; an object's frames wait for its writes; a
// crash loses memory, timers, sockets and non-durable writes, and fails pending calls.

import { AsyncLocalStorage } from 'node:async_hooks'
import { Disk } from './disk.node.ts'
import type { Schedule } from './schedule.ts'
import type { End, EndOwner, SocketHandlers, Wire } from './wire.ts'

type Methods = Record<string, (...args: unknown[]) => unknown>
/** What a caller is told whose call did not come through, in the platform's words. */
export const LOST = 'Network connection lost.'
export type ObjectClass = new (ctx: never, env: never) => object

interface FetchInit {
  readonly headers: Record<string, string>
  readonly signal?: AbortSignal
}
export interface Reply {
  readonly status: number
  readonly webSocket?: End | null
  /** Of a refusal. */
  readonly body?: { readonly why?: string }
}

/** What decides of calls and writes, and sees them. */
export interface Chances {
  latencyMs(): number
  commitMs(): number
  /** What becomes of a call. */
  callFate(): 'answered' | 'lost' | 'answer lost'
  /** A wire was made by a dial. */
  wired(wire: Wire): void
  /** Makes a call of an object, and may look at what it does. */
  called(host: Host, method: string, args: readonly unknown[], make: () => unknown): unknown
  crashed(host: Host): void
}

export class Platform {
  readonly schedule: Schedule
  readonly chances: Chances
  readonly env: Record<string, unknown>
  readonly hosts = new Map<string, Host>()
  /** Whose code runs. */
  readonly current = new AsyncLocalStorage<Instance>()
  /** Hears of what must not be: an error that nobody caught. */
  readonly wrong: (what: string) => void

  constructor(schedule: Schedule, chances: Chances, env: Record<string, unknown>, wrong: (what: string) => void) {
    this.schedule = schedule
    this.chances = chances
    this.env = env
    this.wrong = wrong
  }

  namespace(kind: string, type: ObjectClass) {
    const hostOf = (name: string): Host => {
      const key = `${kind} ${name}`
      let host = this.hosts.get(key)
      if (!host) {
        host = new Host(this, key, name, type)
        this.hosts.set(key, host)
      }
      return host
    }
    return { getByName: (name: string) => stubOf(this, hostOf(name)) }
  }

  close(): void {
    for (const { disk } of this.hosts.values()) disk.close()
  }
}

/** What stays of an object without memory. */
export class Host {
  readonly platform: Platform
  readonly key: string
  readonly name: string
  readonly type: ObjectClass
  readonly disk: Disk
  instance: Instance | null = null
  /** How far the clock of its machine is off. */
  skewMs = 0
  #cancelAlarm: (() => void) | null = null

  constructor(platform: Platform, key: string, name: string, type: ObjectClass) {
    this.platform = platform
    this.key = key
    this.name = name
    this.type = type
    this.disk = new Disk(
      platform.schedule,
      () => platform.chances.commitMs(),
      () => this.#setAlarm(),
    )
  }

  wake(): Instance {
    this.instance ??= new Instance(this)
    return this.instance
  }

  /** Memory, timers, sockets and what is not durable are lost. */
  crash(): void {
    const { instance } = this
    if (!instance) return
    this.instance = null
    instance.die()
    this.disk.crash()
    this.platform.chances.crashed(this)
  }

  #setAlarm(): void {
    this.#cancelAlarm?.()
    const { alarmMs } = this.disk
    this.#cancelAlarm = alarmMs === null ? null : this.platform.schedule.at(alarmMs - this.skewMs, () => this.#ring())
  }

  #ring(): void {
    this.disk.takeAlarm()
    this.#cancelAlarm = null
    const instance = this.wake()
    instance.enter(() => (instance.object as Methods).alarm!())
  }
}

export class Instance implements EndOwner {
  readonly host: Host
  readonly object: object
  readonly sockets = new Set<End>()
  readonly #platform: Platform
  /** Whoever waits for an answer of it. */
  readonly #asked = new Set<(error: Error) => void>()
  #ready: Promise<unknown> | null = null
  #isAlive = true

  constructor(host: Host) {
    this.host = host
    const { platform, disk } = host
    this.#platform = platform
    const storage = disk.storage(() => this.#isAlive)
    const ctx = {
      id: { name: host.name },
      storage,
      waitUntil: (work: Promise<unknown>) => void work.catch((error) => this.#failed(error)),
      acceptWebSocket: (end: End) => {
        end.owner = this
        end.handlers = this.object as unknown as SocketHandlers
        this.sockets.add(end)
        end.accept()
      },
      getWebSockets: () => [...this.sockets].filter(({ readyState, handlers }) => readyState < 3 && handlers !== null),
      blockConcurrencyWhile: (run: () => Promise<unknown>) => {
        const done = run().then(() => {
          if (this.#ready === done) this.#ready = null
        })
        this.#ready = done
        return done
      },
      abort: () => host.crash(),
    }
    this.object = platform.current.run(this, () => new host.type(ctx as never, platform.env as never))
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  gate(send: () => void): void {
    if (this.#isAlive) this.host.disk.gate(send)
  }

  /** Runs something of the object once it is ready; an error that comes out is wrong. */
  enter = (run: () => unknown): void => {
    this.run(async () => run()).catch((error) => this.#failed(error))
  }

  /** The same, with its answer. */
  run<T>(work: () => Promise<T>): Promise<T> {
    return this.#platform.current.run(this, () => (this.#ready ? this.#ready.then(work) : work()))
  }

  /** Runs a call; `fail` is called where the object dies before it has answered. */
  call(run: () => unknown, answer: (value: unknown) => void, fail: (error: Error) => void): void {
    this.#asked.add(fail)
    this.run(async () => run()).then(
      (value) => this.gate(() => this.#asked.delete(fail) && answer(value)),
      (error: Error) => this.gate(() => this.#asked.delete(fail) && fail(error)),
    )
  }

  die(): void {
    this.#isAlive = false
    for (const end of this.sockets) end.died()
    for (const fail of this.#asked) fail(new Error(LOST))
    this.#asked.clear()
  }

  #failed(error: unknown): void {
    if (this.#isAlive) this.#platform.wrong(`${this.host.key}: ${error instanceof Error ? error.stack : String(error)}`)
  }
}

/** A stub: whatever method it is asked for is called on the object. `fetch` dials. */
function stubOf(platform: Platform, host: Host): object {
  const { schedule, chances } = platform
  let arrivalMs = 0
  let isBroken = false
  /** `drop` is called with an answer that does not reach the caller. */
  const ask = (
    run: (instance: Instance) => unknown,
    take: (value: unknown) => unknown,
    drop: (value: unknown) => void = () => undefined,
  ): Promise<unknown> => {
    const caller = platform.current.getStore() ?? null
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const isThere = () => caller?.isAlive ?? true
    const fail = (error: Error) => {
      isBroken = true
      schedule.after(chances.latencyMs(), () => isThere() && reject(error))
    }
    const arrive = () => {
      const fate = isBroken ? 'lost' : chances.callFate()
      if (fate === 'lost') return fail(new Error(LOST))
      const instance = host.wake()
      const answer = (value: unknown) => {
        if (fate === 'answer lost') fail(new Error(LOST))
        if (fate === 'answer lost') drop(value)
        else schedule.after(chances.latencyMs(), () => (isThere() ? resolve(take(value)) : drop(value)))
      }
      const failed = (error: Error) => {
        if (error.message === LOST) return fail(error)
        schedule.after(chances.latencyMs(), () => isThere() && reject(error))
      }
      instance.call(() => run(instance), answer, failed)
    }
    const send = () => {
      arrivalMs = Math.max(arrivalMs, schedule.nowMs + chances.latencyMs())
      schedule.at(arrivalMs, arrive)
    }
    if (caller) caller.gate(send)
    else send()
    return promise
  }
  const dial = (_: string, { headers, signal }: FetchInit): Promise<unknown> => {
    const caller = platform.current.getStore() ?? null
    const request = { headers: new Headers(headers) }
    return ask(
      ({ object }) => (object as Methods).fetch!(request),
      (value) => {
        const reply = value as Reply
        const end = reply.webSocket
        if (!end) return reply
        if (signal?.aborted) end.wire.cut()
        if (caller) {
          end.owner = caller
          caller.sockets.add(end)
        }
        end.wire.label = `${caller?.host.key ?? ''}>${host.key}`
        chances.wired(end.wire)
        return reply
      },
      (value) => (value as Reply).webSocket?.wire.cut(),
    )
  }
  return new Proxy(
    {},
    {
      get(_, name: string) {
        // It is no promise, though some ask.
        if (name === 'then') return undefined
        if (name === 'fetch') return dial
        return (...args: unknown[]) => {
          const sent = structuredClone(args)
          return ask(
            ({ object }) => chances.called(host, name, sent, () => (object as Methods)[name]!(...sent)),
            (value) => structuredClone(value),
          )
        }
      },
    },
  )
}
