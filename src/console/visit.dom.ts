// Who is signed in, for the whole page.

import { effect, signal } from '@preact/signals'
import type { Visitor } from '../accounts/sessions/session.ts'
import { type Asked, ask, ended } from './ask.dom.ts'

/** `unknown`: it was not asked yet; null: nobody. */
export const visitor = signal<Visitor | null | 'unknown'>('unknown')
export const farewell = signal<string | null>(null)

/** Something is shown this once: until it was closed the page stays, whoever is signed in. */
export const isShowing = signal(false)

/** Asks who is signed in. */
export async function look(): Promise<void> {
  if (isShowing.peek()) return
  const answer = await ask<Visitor | null>('GET', '/session')
  const isKept = !answer.ok && answer.error.status !== 401
  if (isKept && visitor.value !== 'unknown') return
  visitor.value = answer.ok ? answer.value : null
  if (!answer.ok) farewell.value = answer.error.message
}

/** The token is sent once, and kept nowhere. */
export async function signIn(token: string): Promise<Asked<unknown>> {
  const answer = await ask('POST', '/session', { token })
  if (answer.ok) {
    farewell.value = null
    await look()
  }
  return answer
}

export async function signOut(): Promise<void> {
  const answer = await ask('DELETE', '/session')
  farewell.value = answer.ok ? 'You are signed out.' : answer.error.message
  if (answer.ok) visitor.value = null
}

// A session that ended, here or in another tab, is found by whichever part asked next.
effect(() => {
  if (ended.value > 0 && !isShowing.value) void look()
})
addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && visitor.peek() !== 'unknown') void look()
})
