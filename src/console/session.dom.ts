// The session of the whole page.

import { computed, effect, signal } from '@preact/signals'
import type { SessionUser } from '../accounts/sessions/session.ts'
import { type RequestResult, request, sessionDoubts } from './request.dom.ts'
import { REQUEST } from './request-strings.ts'

/** `unknown` before the first response; null when signed out. */
export const visitor = signal<SessionUser | null | 'unknown'>('unknown')
/** Shown on the sign-in page. */
export const sessionNotice = signal<string | null>(null)

/** While a secret is shown once, the page must not change with the session. */
export const isSecretShown = signal(false)

/** Requests the current session. */
export async function refreshVisitor(): Promise<void> {
  if (isSecretShown.peek()) return
  const result = await request<SessionUser | null>('GET', '/session')
  const isUnreachable = !result.ok && result.error.status !== 401
  if (isUnreachable && visitor.value !== 'unknown') return
  visitor.value = result.ok ? result.value : null
  if (!result.ok) sessionNotice.value = result.error.message
}

/** Sends the token once and stores it nowhere. */
export async function signIn(token: string): Promise<RequestResult<unknown>> {
  const result = await request('POST', '/session', { token })
  if (result.ok) {
    sessionNotice.value = null
    await refreshVisitor()
  }
  return result
}

export async function signOut(): Promise<void> {
  const result = await request('DELETE', '/session')
  sessionNotice.value = result.ok ? REQUEST.signedOut : result.error.message
  if (result.ok) visitor.value = null
}

// A rejected request or another tab can reveal that the session ended or changed.
effect(() => {
  if (sessionDoubts.value > 0 && !isSecretShown.value) void refreshVisitor()
})
addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && visitor.peek() !== 'unknown') void refreshVisitor()
})

/** Tells the other tabs who is signed in, because a hidden tab sends no requests that could be rejected. */
const otherTabs = new BroadcastChannel('weir-session')
/** Differs between users; null if unknown. */
const identity = computed(() => (visitor.value === 'unknown' ? null : JSON.stringify({ ...visitor.value, expires: 0 })))
effect(() => {
  if (identity.value !== null) otherTabs.postMessage(identity.value)
})
otherTabs.onmessage = ({ data }) => {
  if (identity.peek() !== null && data !== identity.peek()) sessionDoubts.value++
}
