// Text that the script adds to the documentation pages.

export const SEARCH = {
  results: 'Results',
  suggestions: ['authentication', 'limits', 'errors'],
  nothing: (query: string) => `No results for “${query}”. Try: ${SEARCH.suggestions.join(', ')}`,
  /** Kinds of pages with the same names, by folder. */
  kinds: { info: 'info type', channels: 'channel' } as Readonly<Record<string, string>>,
  failed: 'The search index could not be loaded. /docs/all lists every page.',
} as const

export const TRY_IT = {
  signIn: 'Sign in to send requests',
  free: 'This request needs no key and is free.',
  owner: (account: string) => `Signed in as ${account}. Requests are charged to the key you signed in with.`,
  operator: (name: string) => `Signed in to the operator console as ${name}.`,
  failed: (reason: string) => `The request could not be sent: ${reason}`,
} as const

export const COPY = { copy: 'Copy', markdown: 'Copy as Markdown', copied: 'Copied', failed: 'Not copied' } as const
