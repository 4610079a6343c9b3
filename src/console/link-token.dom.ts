// The token of a sign-up link. Invariant: it is removed from the URL immediately, because the URL is kept in the history.

import { signal } from '@preact/signals'

/** Null: the page was not opened by a link. */
export const linkToken = signal(tokenIn(location.hash))
if (linkToken.value !== null) history.replaceState(null, '', location.pathname + location.search)
// Opening a link in a tab that already shows the console does not reload it.
addEventListener('hashchange', () => {
  const token = tokenIn(location.hash)
  if (token === null) return
  history.replaceState(null, '', location.pathname + location.search)
  linkToken.value = token
})

function tokenIn(hash: string): string | null {
  return /^#join=(.+)$/.exec(hash)?.[1] ?? null
}
