// The bindings of a Worker as they are on the platform: far away, limited, and in the case of KV old.

import { ask, current, type Env, io, placeOfObject, realMs, settingsOf } from './context.worker.ts'
import { advanceAfter, BODY } from './globals.worker.ts'
import { over } from './over.ts'
import type { Place } from './places.ts'
import { COLLECTOR, SETTINGS } from './settings.ts'
import { StaleCache } from './stale-cache.ts'

type Methods = Record<string, (...args: unknown[]) => Promise<unknown>>

const wrapped = new WeakMap<Env, Env>()

/** The bindings without those of the rehearsal. The same environment always gives the same result. */
export function wrapEnv(env: Env): Env {
  let known = wrapped.get(env)
  if (known === undefined) {
    const { [SETTINGS]: _, [COLLECTOR]: __, ...product } = env
    known = Object.fromEntries(Object.entries(product).map(([name, binding]) => [name, wrap(name, binding)]))
    wrapped.set(env, known)
  }
  return known
}

function wrap(name: string, binding: unknown): unknown {
  switch ((binding as object | null)?.constructor?.name) {
    case 'DurableObjectNamespace':
      return namespace(name, binding as DurableObjectNamespace)
    case 'KvNamespace':
      return kv(binding as KVNamespace)
    case 'D1Database':
      return d1(binding as D1Database)
    case 'R2Bucket':
      return r2(binding as R2Bucket)
    // A binding to a Worker, which runs on the same machine.
    case 'Fetcher':
      return stub(binding as object, async () => null)
    default:
      return binding
  }
}

function namespace(binding: string, target: DurableObjectNamespace): DurableObjectNamespace {
  const at = (id: DurableObjectId, hint?: string) => () => placeOfObject(`${binding}/${id}`, hint)
  type Options = DurableObjectNamespaceGetDurableObjectOptions
  return over(target, {
    get: (id: DurableObjectId, options?: Options) => stub(target.get(id, options), at(id, options?.locationHint)),
    getByName: (name: string, options?: Options) =>
      stub(target.getByName(name, options), at(target.idFromName(name), options?.locationHint)),
  })
}

const NOT_CALLS = new Set(['then', 'id', 'name'])

/** A stub of an object or of a Worker. */
function stub(target: object, place: () => Promise<Place | null>): object {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'symbol' || NOT_CALLS.has(name)) return Reflect.get(target, name, target)
      return async (...args: unknown[]) => {
        const isFetch = name === 'fetch'
        const counts = current.getStore()?.counts
        if (!isFetch) counts?.call(name, 'arguments', args)
        const to = await place()
        const result = await io({ to, isConnection: isFetch }, () => (target as Methods)[name]!(...args))
        if (!isFetch) counts?.call(name, 'result', result)
        return result
      }
    },
  })
}

const atStore = (isConnection: boolean) => ({ to: settingsOf().storePlace, isConnection })

interface ReadOptions {
  readonly cacheTtl?: number
}

function kv(target: KVNamespace): KVNamespace {
  const cache = new StaleCache(realMs)
  const read = async (method: 'get' | 'getWithMetadata', key: string, options?: string | ReadOptions) => {
    const how = `${method} ${JSON.stringify(options)}`
    const known = cache.get(key, how)
    if (known !== undefined) return structuredClone(known.value)
    const value = await io(atStore(true), () => (target as unknown as Methods)[method]!(key, options))
    const ttl = typeof options === 'object' ? options.cacheTtl : undefined
    const lifetimeMs = Math.min(settingsOf().kvStaleMs, ttl === undefined ? 60_000 : ttl * 1000)
    if (!(value instanceof ReadableStream)) cache.set(key, how, structuredClone(value), lifetimeMs)
    return value
  }
  const write = async (method: 'put' | 'delete', key: string, ...rest: unknown[]) => {
    current.getStore()?.counts.value(key, ...rest.slice(0, 1))
    if ((await ask('kv-write', key)) !== 'ok')
      throw new Error(`KV ${method.toUpperCase()} failed: 429 Too Many Requests`)
    cache.forget(key)
    return io(atStore(true), () => (target as unknown as Methods)[method]!(key, ...rest))
  }
  return over(target, {
    get: (key: string, options?: string) => read('get', key, options),
    getWithMetadata: (key: string, options?: string) => read('getWithMetadata', key, options),
    put: (key: string, ...rest: unknown[]) => write('put', key, ...rest),
    delete: (key: string) => write('delete', key),
    list: (...args: unknown[]) => io(atStore(true), () => (target as unknown as Methods).list!(...args)),
  })
}

const nativeStatements = new WeakMap<object, D1PreparedStatement>()

function statement(target: D1PreparedStatement): D1PreparedStatement {
  const run =
    (method: string) =>
    (...args: unknown[]) => {
      current.getStore()?.counts.statements(1)
      return io(atStore(false), () => (target as unknown as Methods)[method]!(...args))
    }
  const bind = (...values: unknown[]) => {
    current.getStore()?.counts.bound(values)
    return statement(target.bind(...values))
  }
  const result = over(target, {
    bind,
    ...Object.fromEntries(['first', 'run', 'all', 'raw'].map((name) => [name, run(name)])),
  })
  nativeStatements.set(result, target)
  return result
}

function d1<T extends D1Database | D1DatabaseSession>(target: T): T {
  const batch = (statements: readonly D1PreparedStatement[]) => {
    current.getStore()?.counts.statements(statements.length)
    const natives = statements.map((one) => nativeStatements.get(one) ?? one)
    return io(atStore(false), () => target.batch(natives))
  }
  return over(target, {
    prepare: (text: string) => statement(target.prepare(text)),
    batch,
    ...('exec' in target && { exec: (text: string) => io(atStore(false), () => target.exec(text)) }),
    ...('withSession' in target && { withSession: (first?: string) => d1(target.withSession(first)) }),
  })
}

const BUCKET = ['head', 'get', 'put', 'delete', 'list', 'createMultipartUpload']
const patched = new WeakSet<object>()

function r2(target: R2Bucket): R2Bucket {
  const method =
    (name: string) =>
    async (...args: unknown[]) => {
      const result = await io(atStore(true), () => (target as unknown as Methods)[name]!(...args))
      const prototype = typeof result === 'object' && result !== null ? Object.getPrototypeOf(result) : null
      if (name === 'get' && prototype !== null && !patched.has(prototype)) {
        patched.add(prototype)
        advanceAfter(prototype, BODY)
      }
      return result
    }
  return over(target, Object.fromEntries(BUCKET.map((name) => [name, method(name)])))
}
