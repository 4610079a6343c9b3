// The storage of one object: key-value API, SQLite and an alarm. Writes become durable some time later, all up to a
// moment together; a crash undoes the rest. A confirmed write holds back its object's frames until then, like the
// platform's output gate; one with `allowUnconfirmed` does not.

import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import type { Schedule } from './schedule.ts'

interface Options {
  readonly allowUnconfirmed?: boolean
}

export class Disk {
  readonly #schedule: Schedule
  readonly #commitMs: () => number
  readonly #alarmSet: () => void
  readonly #kv = new Map<string, unknown>()
  readonly #statements = new Map<string, StatementSync>()
  #db: DatabaseSync | null = null
  #isInTransaction = false
  /** What takes back the writes that are not durable, oldest first. */
  #undo: (() => void)[] = []
  #waiting: (() => void)[] = []
  #isGated = false
  #cancelCommit: (() => void) | null = null
  alarmMs: number | null = null

  /** `alarmSet` hears that the alarm has another time. */
  constructor(schedule: Schedule, commitMs: () => number, alarmSet: () => void) {
    this.#schedule = schedule
    this.#commitMs = commitMs
    this.#alarmSet = alarmSet
  }

  /** Runs when what was written so far is durable, where that has to be waited for. */
  gate(run: () => void): void {
    if (this.#isGated) this.#waiting.push(run)
    else run()
  }

  /** The machine is lost: so is what is not durable. */
  crash(): void {
    this.#cancelCommit?.()
    this.#cancelCommit = null
    for (const undo of this.#undo.reverse()) undo()
    this.#undo = []
    this.#waiting = []
    this.#isGated = false
    if (this.#isInTransaction) this.#db!.exec('ROLLBACK')
    this.#isInTransaction = false
  }

  close(): void {
    this.#cancelCommit?.()
    this.#db?.close()
  }

  /** What an object sees of it; `isAlive` false: its memory is gone, and it may touch nothing any more. */
  storage(isAlive: () => boolean) {
    const checked = <A extends unknown[], R>(run: (...args: A) => R) => {
      return (...args: A): R => {
        if (!isAlive()) throw new Error('this object is gone')
        return run(...args)
      }
    }
    const put = (key: string, value: unknown, isConfirmed: boolean) => {
      this.#wrote(isConfirmed)
      const had = this.#kv.has(key)
      const before = this.#kv.get(key)
      this.#undo.push(() => (had ? this.#kv.set(key, before) : this.#kv.delete(key)))
      this.#kv.set(key, value)
    }
    const remove = (key: string, isConfirmed: boolean) => {
      if (!this.#kv.has(key)) return
      this.#wrote(isConfirmed)
      const before = this.#kv.get(key)
      this.#undo.push(() => this.#kv.set(key, before))
      this.#kv.delete(key)
    }
    return {
      kv: {
        get: checked((key: string) => this.#kv.get(key)),
        put: checked((key: string, value: unknown) => put(key, value, true)),
        list: checked(({ prefix }: { prefix: string }) =>
          [...this.#kv].filter(([key]) => key.startsWith(prefix)).sort(([a], [b]) => (a < b ? -1 : 1)),
        ),
      },
      put: checked(async (what: string | object, ...rest: unknown[]) => {
        const isOne = typeof what === 'string'
        const { allowUnconfirmed } = (rest[isOne ? 1 : 0] ?? {}) as Options
        for (const [key, value] of isOne ? [[what, rest[0]] as const] : Object.entries(what))
          put(key, value, !allowUnconfirmed)
      }),
      delete: checked(async (keys: string | readonly string[], options: Options = {}) => {
        for (const key of typeof keys === 'string' ? [keys] : keys) remove(key, !options.allowUnconfirmed)
      }),
      sync: checked(() => this.#synced()),
      sql: { exec: checked((text: string, ...bindings: unknown[]) => this.#exec(text, bindings)) },
      transactionSync: checked(<T>(run: () => T): T => this.#transaction(run)),
      getAlarm: checked(async () => this.alarmMs),
      setAlarm: checked(async (atMs: number, options: Options = {}) => {
        this.#wrote(!options.allowUnconfirmed)
        const before = this.alarmMs
        this.#undo.push(() => this.#alarm(before))
        this.#alarm(atMs)
      }),
    }
  }

  /** What its tables say, to whoever looks from outside. */
  rows(text: string): Record<string, unknown>[] {
    return this.#open().prepare(text).all()
  }

  takeAlarm(): void {
    this.alarmMs = null
  }

  #alarm(atMs: number | null): void {
    this.alarmMs = atMs
    this.#alarmSet()
  }

  #synced(): Promise<void> {
    if (!this.#cancelCommit) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #wrote(isConfirmed: boolean): void {
    if (isConfirmed) this.#isGated = true
    this.#cancelCommit ??= this.#schedule.after(this.#commitMs(), () => this.#commit())
  }

  #commit(): void {
    this.#cancelCommit = null
    this.#undo = []
    this.#isGated = false
    if (this.#isInTransaction) this.#db!.exec('COMMIT')
    this.#isInTransaction = false
    const waiting = this.#waiting
    this.#waiting = []
    for (const run of waiting) run()
  }

  #open(): DatabaseSync {
    this.#db ??= new DatabaseSync(':memory:')
    return this.#db
  }

  /** From here on a crash takes back what is written. */
  #writing(): void {
    this.#wrote(true)
    if (this.#isInTransaction) return
    this.#open().exec('BEGIN')
    this.#isInTransaction = true
  }

  #transaction<T>(run: () => T): T {
    this.#writing()
    const db = this.#open()
    const done = this.#undo.length
    db.exec('SAVEPOINT one')
    try {
      const result = run()
      db.exec('RELEASE one')
      return result
    } catch (error) {
      db.exec('ROLLBACK TO one; RELEASE one')
      for (const undo of this.#undo.splice(done).reverse()) undo()
      throw error
    }
  }

  #exec(text: string, bindings: readonly unknown[]) {
    const db = this.#open()
    // Tables are there after a crash too: whoever wakes makes those that are not.
    if (/^\s*(CREATE|DROP|ALTER)/i.test(text)) {
      db.exec(text)
      return cursorOf([], () => [])
    }
    if (!/^\s*SELECT/i.test(text)) this.#writing()
    let statement = this.#statements.get(text)
    if (!statement) {
      statement = db.prepare(text)
      this.#statements.set(text, statement)
    }
    const rows = statement.all(...(bindings as SQLInputValue[]))
    return cursorOf(rows, () => statement.columns().map(({ name }) => name))
  }
}

function cursorOf(rows: readonly unknown[], columns: () => readonly string[]) {
  return {
    get columnNames() {
      return columns()
    },
    toArray: () => rows,
    one: () => {
      if (rows.length !== 1) throw new Error(`Expected exactly one result from SQL query, but got ${rows.length}`)
      return rows[0]
    },
    [Symbol.iterator]: () => rows[Symbol.iterator](),
  }
}
