// What goes wrong with a delivery, and what went wrong and passed. Pure.

interface Trouble {
  /** Its first failure, Unix ms. */
  readonly sinceMs: number
  /** Its last failure, Unix ms. */
  readonly atMs: number
  /** Of the last failure. */
  readonly words: string
  /** Only a batch that the destination confirms ends it. */
  readonly isOfBatch: boolean
}

interface Incident extends Pick<Trouble, 'sinceMs' | 'words'> {
  /** Rows or blocks went on, Unix ms. */
  readonly untilMs: number
}

export interface Health {
  /** Null: nothing goes wrong. */
  readonly lastError: Trouble | null
  /** The last trouble that passed; null: none did. */
  readonly lastIncident: Incident | null
}

export function troubled({ lastError }: Health, atMs: number, words: string, isOfBatch = false): Partial<Health> {
  return { lastError: { sinceMs: lastError?.sinceMs ?? atMs, atMs, words, isOfBatch } }
}

export function healed({ lastError }: Health, nowMs: number): Partial<Health> {
  if (lastError === null) return {}
  const { sinceMs, words } = lastError
  return { lastError: null, lastIncident: { sinceMs, words, untilMs: nowMs } }
}
