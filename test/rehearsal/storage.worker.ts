// The state of an object with the sizes and the output gate of the platform.

import type { Context } from './context.worker.ts'
import { over } from './over.ts'

interface WriteOptions {
  readonly allowUnconfirmed?: boolean
}
type Methods = Record<string, (...args: unknown[]) => unknown>

const READS = /^\s*(?:SELECT|EXPLAIN|PRAGMA)\b/i

/** Replaces the storage of the state, which the constructor of the object has not seen yet. */
export function wrapState(state: DurableObjectState, context: Context): void {
  const { storage } = state
  const gate = context.gate!
  const isConfirmed = (options: unknown) => (options as WriteOptions | undefined)?.allowUnconfirmed !== true
  const { sql, kv } = storage
  const wrappedSql = over(sql, {
    exec: (text: string, ...bound: unknown[]) => {
      context.counts.bound(bound)
      if (!READS.test(text)) gate.wrote(true)
      return sql.exec(text, ...(bound as SqlStorageValue[]))
    },
  })
  const wrappedKv = over(kv, {
    put: (key: string, value: unknown) => {
      context.counts.value(key, value)
      gate.wrote(true)
      return kv.put(key, value)
    },
    delete: (key: string) => {
      gate.wrote(true)
      return kv.delete(key)
    },
  })
  const write =
    (name: string, optionsAt: (args: readonly unknown[]) => number) =>
    (...args: unknown[]) => {
      if (name === 'put') {
        const entries = typeof args[0] === 'string' ? [[args[0], args[1]]] : Object.entries(args[0] as object)
        for (const [key, value] of entries) context.counts.value(key, value)
      }
      gate.wrote(isConfirmed(args[optionsAt(args)]))
      return (storage as unknown as Methods)[name]!(...args)
    }
  const wrapped = over(storage, {
    sql: wrappedSql,
    kv: wrappedKv,
    put: write('put', ([key]) => (typeof key === 'string' ? 2 : 1)),
    delete: write('delete', () => 1),
    deleteAll: write('deleteAll', () => 0),
    setAlarm: write('setAlarm', () => 1),
    deleteAlarm: write('deleteAlarm', () => 0),
    sync: async () => {
      await storage.sync()
      await gate.synced()
      context.clock.advance()
    },
  })
  Object.defineProperty(state, 'storage', { value: wrapped, configurable: true })
}
