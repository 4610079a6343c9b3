// The document that is edited, and the documents that were run, kept as long as the tab. Invariant: keys are not kept.

import { signal } from '@preact/signals'

export interface Entry {
  readonly query: string
  readonly variables: string
}

const NAME = 'weir-graphql'
const ENTRIES_MAX = 20
/** Longer documents are not kept. */
const CHARS_MAX = 20_000

interface StoredHistory {
  readonly draft: Entry | null
  /** Newest first. */
  readonly entries: readonly Entry[]
}

const EMPTY: StoredHistory = { draft: null, entries: [] }

/** Browsers may deny access to the storage, and other scripts of the host may have written to it. */
function load(): StoredHistory {
  try {
    const { draft, entries } = JSON.parse(sessionStorage.getItem(NAME) ?? 'null') ?? EMPTY
    return { draft: isEntry(draft) ? draft : null, entries: entries.filter(isEntry).slice(0, ENTRIES_MAX) }
  } catch {
    return EMPTY
  }
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' &&
  value !== null &&
  'query' in value &&
  typeof value.query === 'string' &&
  'variables' in value &&
  typeof value.variables === 'string'

export const kept = signal(load())

function keep(next: StoredHistory): void {
  kept.value = next
  try {
    sessionStorage.setItem(NAME, JSON.stringify(next))
  } catch {
    // Then it lasts as long as the page.
  }
}

const isShort = ({ query, variables }: Entry) => query.length + variables.length <= CHARS_MAX

export function keepDraft(draft: Entry): void {
  if (isShort(draft)) keep({ ...kept.peek(), draft })
}

/** Moves an entry that was run before to the front. */
export function keepRun(entry: Entry): void {
  const { draft, entries } = kept.peek()
  const others = entries.filter(({ query, variables }) => query !== entry.query || variables !== entry.variables)
  if (isShort(entry)) keep({ draft, entries: [entry, ...others].slice(0, ENTRIES_MAX) })
}

export const clearHistory = () => keep({ ...kept.peek(), entries: [] })
