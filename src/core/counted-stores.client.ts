// D1, KV and R2 bindings that count calls, failures, and the rows that D1 reports. Invariant: a binding otherwise behaves
// like the platform's own.

import { counters, STORES } from './counters.ts'

const OPERATIONS: ReadonlySet<unknown> = new Set([
  ...['get', 'getWithMetadata', 'put', 'delete', 'list', 'head'],
  ...['first', 'run', 'all', 'raw', 'batch', 'exec'],
])

type Method = (...args: unknown[]) => unknown

/** Native statements of counted ones, because `batch` accepts only native statements. */
const natives = new WeakMap<object, unknown>()
const native = (value: unknown) => (Array.isArray(value) ? value.map((one) => natives.get(one) ?? one) : value)

/** The environment with counted bindings. A binding that is absent stays absent; one that is counted is not counted twice. */
export function countedStores<Env extends object>(env: Env): Env {
  const found = STORES.flatMap((name): [string, object][] => {
    const binding: unknown = Reflect.get(env, name)
    return typeof binding === 'object' && binding !== null ? [[name, counted(binding, name)]] : []
  })
  return { ...env, ...Object.fromEntries(found) }
}

function counted<T extends object>(target: T, binding: string): T {
  if (natives.has(target)) return target
  const proxy = new Proxy(target, {
    get(object, name) {
      const value: unknown = Reflect.get(object, name)
      if (typeof value !== 'function') return value
      const method = value as Method
      if (OPERATIONS.has(name))
        return (...args: unknown[]) => call(() => method.apply(object, args.map(native)), binding, name)
      // `prepare` and `bind` return statements, whose calls count.
      if (name === 'prepare' || name === 'bind')
        return (...args: unknown[]) => counted(method.apply(object, args) as object, binding)
      return method.bind(object)
    },
  })
  natives.set(proxy, target)
  return proxy
}

async function call(run: () => unknown, binding: string, operation: string | symbol): Promise<unknown> {
  counters.add('store_operations', `${binding}|${String(operation)}`)
  try {
    const result = await run()
    for (const one of Array.isArray(result) ? result : [result]) countRows(one, binding)
    return result
  } catch (error) {
    counters.add('store_errors', binding)
    throw error
  }
}

function countRows(result: unknown, binding: string): void {
  const { rows_read: read = 0, rows_written: written = 0 } = (result as Partial<D1Response> | null)?.meta ?? {}
  if (read > 0) counters.add('d1_rows_read', binding, read)
  if (written > 0) counters.add('d1_rows_written', binding, written)
}
