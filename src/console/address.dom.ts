// What is shown stands in the page's own address, so that it can be kept, sent and gone back to. Law: never a key or a token.

import { computed, type ReadonlySignal, signal, useComputed } from '@preact/signals'

const search = signal(location.search)
addEventListener('popstate', () => {
  search.value = location.search
})

export const params = computed(() => new URLSearchParams(search.value))

/** One of them, empty where it is not there: who reads it is not drawn again because another one changed. */
export function useParam(name: string): ReadonlySignal<string> {
  return useComputed(() => params.value.get(name) ?? '')
}

/** The address with these parameters instead; an empty one, or null, goes. */
export function urlWith(changes: Readonly<Record<string, string | null>>, from = params.value): string {
  const next = new URLSearchParams(from)
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  return `${location.pathname}${next.size > 0 ? `?${next}` : ''}`
}

/** Goes there without loading the page again. `replace`: nothing to go back to, as while somebody types. */
export function navigate(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  search.value = location.search
}
