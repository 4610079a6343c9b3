// Keeps the state of a page in its URL, so that views can be bookmarked, shared and navigated back to. Invariant: the URL
// never holds a key or a token.

import { computed, type ReadonlySignal, signal, useComputed } from '@preact/signals'

const search = signal(location.search)
addEventListener('popstate', () => {
  search.value = location.search
})

export const params = computed(() => new URLSearchParams(search.value))

/** One parameter, empty if absent. Components that read it do not render again when a different parameter changes. */
export function useParam(name: string): ReadonlySignal<string> {
  return useComputed(() => params.value.get(name) ?? '')
}

/** The current URL with these parameters replaced; an empty value or null removes one. */
export function urlWith(changes: Readonly<Record<string, string | null>>, from = params.value): string {
  const next = new URLSearchParams(from)
  for (const [name, value] of Object.entries(changes))
    if (value === null || value === '') next.delete(name)
    else next.set(name, value)
  return `${location.pathname}${next.size > 0 ? `?${next}` : ''}`
}

/** The URL of a page of the console, without the parameters of the current page. */
export const pageUrl = (page: string, more: Readonly<Record<string, string>> = {}) =>
  urlWith({ page, ...more }, new URLSearchParams())

/** Navigates without reloading. `replace` adds no history entry, for example while typing. */
export function navigate(address: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') history.pushState(null, '', address)
  else history.replaceState(null, '', address)
  search.value = location.search
}
