// Runs the unchanged bundle of a Worker under the conditions of the platform. The entry module (modules.ts) passes it the
// bundle's exports.

import { DurableObject, WorkerEntrypoint } from 'cloudflare:workers'
import { wrapEnv } from './bindings.worker.ts'
import { Context, configure, current, type Env, placeOfObject, settingsOf } from './context.worker.ts'
import { replaceGlobals } from './globals.worker.ts'
import { wrapState } from './storage.worker.ts'

replaceGlobals()

type Exported = Readonly<Record<string, unknown>>
type Class = new (state: never, env: never) => object
type Method = (this: object, ...args: never[]) => unknown
type Fetch = (request: Request, env: Env, state: ExecutionContext) => Response | Promise<Response>

/** Events without an answer that could wait for the output gate. */
const UNANSWERED = new Set(['alarm', 'webSocketMessage', 'webSocketClose', 'webSocketError'])
/** Paths for the tests. */
const CONTROL = '/rehearsal/'
const RESET = 'rehearsalReset'
const WAKE = 'rehearsalWake'

/** Objects of this isolate that have ever run. */
const known = new Map<string, { readonly binding: string; readonly id: string }>()

export function rehearsed(product: Exported): Exported {
  return Object.fromEntries(
    Object.entries(product).map(([name, value]) => {
      if (name === 'default') return [name, handlers(value as Exported)]
      const { prototype } = value as Class
      if (prototype instanceof DurableObject) return [name, objectClass(name, value as Class)]
      return [name, prototype instanceof WorkerEntrypoint ? entrypoint(name, value as Class) : value]
    }),
  )
}

function handlers(product: Exported): Exported {
  const serve = product.fetch as Fetch
  const fetch: Fetch = (request, env, state) => {
    configure(env)
    const { pathname } = new URL(request.url)
    if (pathname.startsWith(CONTROL)) return control(pathname.slice(CONTROL.length), env)
    const context = new Context(`${request.method} ${pathname}`, settingsOf().place)
    return current.run(context, async () => {
      const response = await serve(request, wrapEnv(env), state)
      context.counts.spend()
      return response
    })
  }
  return { ...product, fetch }
}

/** Resets all objects, or calls each of them by its ID, without its name. */
async function control(action: string, env: Env): Promise<Response> {
  const objects = [...known.values()]
  const outcomes = await Promise.allSettled(
    objects.map(({ binding, id }) => {
      const namespace = env[binding] as DurableObjectNamespace
      const target = namespace.get(namespace.idFromString(id)) as unknown as Record<string, () => Promise<unknown>>
      return target[action === 'reset' ? RESET : WAKE]!()
    }),
  )
  const failures = outcomes.flatMap((outcome, at) =>
    outcome.status === 'rejected' ? [`${objects[at]!.binding}: ${outcome.reason}`] : [],
  )
  return Response.json({ objects: objects.length, failures })
}

function define(type: { readonly prototype: object }, method: string, value: unknown): void {
  Object.defineProperty(type.prototype, method, { value, configurable: true, writable: true })
}

function methodsOf(type: Class, base: object): [string, Method][] {
  const methods = new Map<string, Method>()
  for (let prototype: object = type.prototype; prototype !== base; prototype = Object.getPrototypeOf(prototype))
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype)))
      if (name !== 'constructor' && typeof value === 'function' && !methods.has(name)) methods.set(name, value)
  return [...methods]
}

function objectClass(name: string, type: Class): Class {
  const contexts = new WeakMap<object, Context>()
  // Not a class, because its constructor could not call `super` within a context.
  function Rehearsed(state: DurableObjectState, env: Env): object {
    configure(env)
    const context = new Context(`${name} constructor`, null)
    const binding = settingsOf().bindings[name] ?? name
    const id = state.id.toString()
    known.set(`${binding}/${id}`, { binding, id })
    wrapState(state, context)
    const construct = () => Reflect.construct(type, [state, wrapEnv(env)], Rehearsed) as object
    const object = context.enter(`${name} constructor`, construct)
    contexts.set(object, context)
    void placeOfObject(`${binding}/${id}`).then((place) => {
      context.place = place
    })
    return object
  }
  Object.setPrototypeOf(Rehearsed, type)
  Rehearsed.prototype = Object.create(type.prototype, { constructor: { value: Rehearsed } })
  define(Rehearsed, RESET, function (this: { readonly ctx: DurableObjectState }) {
    this.ctx.abort('reset by the rehearsal')
  })
  define(Rehearsed, WAKE, () => {})
  for (const [method, original] of methodsOf(type, DurableObject.prototype)) {
    const run = function (this: object, ...args: never[]): unknown {
      const context = contexts.get(this)
      // The object calls itself.
      if (context === undefined || current.getStore() === context) return original.apply(this, args)
      const result = context.enter(`${name}.${method}`, () => original.apply(this, args))
      if (UNANSWERED.has(method)) return result
      return answered(context, method, result)
    }
    define(Rehearsed, method, run)
  }
  return Rehearsed as unknown as Class
}

/** An answer leaves through the output gate. */
async function answered(context: Context, method: string, result: unknown): Promise<unknown> {
  try {
    const value = await result
    context.counts.spend()
    if (method !== 'fetch') context.counts.call(method, 'result', value)
    return value
  } finally {
    await context.gate?.passed()
  }
}

function entrypoint(name: string, type: Class): Class {
  class Rehearsed extends (type as new (state: ExecutionContext, env: Env) => object) {
    constructor(state: ExecutionContext, env: Env) {
      configure(env)
      super(state, wrapEnv(env))
    }
  }
  for (const [method, original] of methodsOf(type, WorkerEntrypoint.prototype)) {
    const run = function (this: object, ...args: never[]): unknown {
      const context = new Context(`${name}.${method}`, settingsOf().place)
      return current.run(context, () => answered(context, method, original.apply(this, args)))
    }
    define(Rehearsed, method, run)
  }
  return Rehearsed as unknown as Class
}
