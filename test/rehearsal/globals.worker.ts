// Replaces globals of an isolate: the clock, timers, fetch, and what sockets send.

import { current, io, realMs } from './context.worker.ts'

type Method = (this: unknown, ...args: never[]) => unknown

/** Replaces a method of a prototype. */
function replace(prototype: object, name: string, make: (original: Method) => Method): void {
  const original = Reflect.get(prototype, name) as Method | undefined
  if (original === undefined) return
  Object.defineProperty(prototype, name, { value: make(original), configurable: true, writable: true })
}

/** Before the first event, the platform's clock is at 0. */
let hasBegun = false
const frozenMs = (): number => {
  const context = current.getStore()
  if (context !== undefined) hasBegun = true
  return context?.clock.nowMs ?? (hasBegun ? realMs() : 0)
}

function replaceClock(): void {
  const RealDate = Date
  const startMs = realMs()
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [frozenMs()] : args, newTarget),
    get: (target, name) => (name === 'now' ? frozenMs : Reflect.get(target, name)),
  })
  Object.defineProperty(performance, 'now', { value: () => frozenMs() - startMs, configurable: true })
  const realSetTimeout = setTimeout.bind(globalThis)
  const rehearsed = (run: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const context = current.getStore()
    const fire = () => {
      context?.clock.advance()
      run(...args)
    }
    return realSetTimeout(fire, ms)
  }
  Object.defineProperty(globalThis, 'setTimeout', { value: rehearsed, configurable: true, writable: true })
}

/** The clock advances when a body or a part of it has been read. */
export function advanceAfter(prototype: object, names: readonly string[]): void {
  for (const name of names)
    replace(
      prototype,
      name,
      (original) =>
        function (this: unknown, ...args) {
          const context = current.getStore()
          const result = original.apply(this, args) as Promise<unknown>
          return context === undefined ? result : result.finally(() => context.clock.advance())
        },
    )
}

export const BODY = ['text', 'json', 'arrayBuffer', 'bytes', 'blob', 'formData']

function replaceSockets(): void {
  const { prototype } = WebSocket
  for (const name of ['send', 'close'])
    replace(
      prototype,
      name,
      (original) =>
        function (this: unknown, ...args) {
          const context = current.getStore()
          if (context === undefined) return original.apply(this, args)
          return context.send(() => void original.apply(this, args))
        },
    )
  replace(
    prototype,
    'serializeAttachment',
    (original) =>
      function (this: unknown, ...args) {
        current.getStore()?.counts.attachment(args[0])
        return original.apply(this, args)
      },
  )
  replace(
    prototype,
    'addEventListener',
    (original) =>
      function (this: unknown, ...args) {
        const [type, listener, ...more] = args as unknown as [string, (event: unknown) => unknown, ...unknown[]]
        const context = current.getStore()
        const heard = (event: unknown) =>
          context === undefined ? listener(event) : context.enter(`socket ${type}`, () => listener(event))
        return original.apply(this, [type, heard, ...more] as never[])
      },
  )
}

function replaceFetch(): void {
  const realFetch = fetch.bind(globalThis)
  const rehearsed = (...args: Parameters<typeof fetch>) =>
    io({ to: null, isConnection: true }, () => realFetch(...args))
  Object.defineProperty(globalThis, 'fetch', { value: rehearsed, configurable: true, writable: true })
  for (const name of ['match', 'put', 'delete'])
    replace(
      Cache.prototype,
      name,
      (original) =>
        function (this: unknown, ...args) {
          return io({ to: null, isConnection: true }, () => original.apply(this, args) as Promise<unknown>)
        },
    )
}

export function replaceGlobals(): void {
  replaceClock()
  replaceSockets()
  replaceFetch()
  for (const { prototype } of [Request, Response]) advanceAfter(prototype, BODY)
  for (const { prototype } of [ReadableStreamDefaultReader, ReadableStreamBYOBReader]) advanceAfter(prototype, ['read'])
}
