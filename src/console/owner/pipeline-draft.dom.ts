// Keeps the draft of a pipeline over a reload of the tab. Invariants: a draft is read only under its account; it contains
// no secret.

import { type Signal, signal } from '@preact/signals'
import { type Draft, EMPTY_DRAFT } from './pipeline-draft.ts'

const keyOf = (account: string, id: string) => `weir.pipeline.${account}.${id || 'new'}`

/** `id`: the pipeline to edit; empty: a new one. Null: no draft is kept. */
function keptDraft(account: string, id: string): Draft | null {
  try {
    const text = sessionStorage.getItem(keyOf(account, id))
    return text === null ? null : { ...EMPTY_DRAFT, ...(JSON.parse(text) as Partial<Draft>) }
  } catch {
    return null
  }
}

/** A draft that is kept with every change. */
export function draftSignal(account: string, id: string, start: Draft): Signal<Draft> {
  const draft = signal(keptDraft(account, id) ?? start)
  draft.subscribe((value) => {
    if (value === start) return
    try {
      sessionStorage.setItem(keyOf(account, id), JSON.stringify(value))
    } catch {
      // Without storage, a reload starts over.
    }
  })
  return draft
}

export function dropDraft(account: string, id: string): void {
  try {
    sessionStorage.removeItem(keyOf(account, id))
  } catch {
    // Nothing was kept.
  }
}
