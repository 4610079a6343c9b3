// Text that the script adds to the documentation pages.

export const SEARCH = {
  results: 'Results',
  nothing: (query: string) => `No results for “${query}”. Try: authentication, limits, errors`,
  failed: 'The search index could not be loaded. /docs/all lists every page.',
} as const

export const TRY_IT = {
  headers: {
    'x-credits-cost': 'Credits',
    'x-credits-remaining': 'Credits left',
    age: 'Age (s)',
    'x-block-height': 'Block',
    'x-request-id': 'Request ID',
  },
  status: 'Status',
  time: 'Time',
  signIn: 'Sign in',
  signedOut: ' to send requests from this page. They are charged to the key you sign in with.',
  owner: (account: string) => `Signed in as ${account}. Requests are charged to the key you signed in with.`,
  operator: (name: string) => `Signed in as operator ${name}.`,
  failed: (reason: string) => `The request could not be sent: ${reason}`,
  wrongPath: 'The path must begin with /',
  more: (count: number) => `\n… ${count.toLocaleString('en')} more characters`,
} as const

export const COPY = { copy: 'Copy', copied: 'Copied' } as const
