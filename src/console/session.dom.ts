// Who is signed in, for the whole page.

import { effect, signal } from '@preact/signals'
import type { SessionUser } from '../accounts/sessions/session.ts'
import { type RequestResult, request, sessionRejections } from './request.dom.ts'

/** `unknown`: it was not asked yet; null: nobody. */
export const visitor = signal<SessionUser | null | 'unknown'>('unknown')
export const sessionNotice = signal<string | null>(null)

/** Something is shown this once: until it was closed the page stays, whoever is signed in. */
export const isSecretShown = signal(false)

/** Asks who is signed in. */
export async function refreshVisitor(): Promise<void> {
  if (isSecretShown.peek()) return
  const answer = await request<SessionUser | null>('GET', '/session')
  const isKept = !answer.ok && answer.error.status !== 401
  if (isKept && visitor.value !== 'unknown') return
  visitor.value = answer.ok ? answer.value : null
  if (!answer.ok) sessionNotice.value = answer.error.message
}

/** The token is sent once, and kept nowhere. */
export async function signIn(token: string): Promise<RequestResult<unknown>> {
  const answer = await request('POST', '/session', { token })
  if (answer.ok) {
    sessionNotice.value = null
    await refreshVisitor()
  }
  return answer
}

export async function signOut(): Promise<void> {
  const answer = await request('DELETE', '/session')
  sessionNotice.value = answer.ok ? 'You are signed out.' : answer.error.message
  if (answer.ok) visitor.value = null
}

// A session that ended, here or in another tab, is found by whichever part asked next.
effect(() => {
  if (sessionRejections.value > 0 && !isSecretShown.value) void refreshVisitor()
})
addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && visitor.peek() !== 'unknown') void refreshVisitor()
})
