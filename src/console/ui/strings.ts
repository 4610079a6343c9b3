// Text of the parts that several pages share: dialogs, forms, tables, and names of codes and states.

export const DIALOG = { cancel: 'Cancel', close: 'Close', type: 'Type ', toConfirm: ' to confirm' } as const

export const FORM = {
  apply: 'Apply',
  shownOnce: (name: string) => `${name} is shown only once:`,
  saved: 'I’ve saved it',
} as const

export const TABLE = {
  previous: 'Previous',
  next: 'Next',
  more: 'Load more',
  exportCsv: 'Export CSV',
  rows: (from: number, to: number, all: string) => `${from}–${to} of ${all}`,
} as const

export const PARTS = {
  retry: 'Try again',
  copy: 'Copy',
  copied: 'Copied',
  dismiss: 'Dismiss',
  partsMissing: (count: number) => `${count} parts of this page could not be loaded.`,
} as const

export const LAZY = {
  failed: 'Part of this page could not be loaded. A new version may have been deployed.',
  reload: 'Reload the page',
} as const

export const RELATIVE = {
  ago: (duration: string) => `${duration} ago`,
  ahead: (duration: string) => `in ${duration}`,
  utc: (time: string) => `${time} UTC`,
} as const

export const BARS = { total: 'Total' } as const
export const CHART = { pick: (chart: string) => `${chart}. Use the arrow keys to read the values.` } as const

export const SECRET = {
  saved: 'I’ve saved it',
  first: 'To continue, copy it or confirm that it is saved.',
  done: 'Done',
  samples: 'Language',
  check: 'Send a test call',
  checked: (status: number, ms: number, credits: string) =>
    `${status} in ${ms} ms, ${credits} ${credits === '1' ? 'credit' : 'credits'}`,
  refused: (status: number, ms: number, message: string) => `${status} in ${ms} ms. ${message}`,
  unreachable: 'The gateway did not respond. Try again in a moment.',
} as const

export const KEY_REACH = {
  noPipelines: 'No running pipeline is charged to this key.',
  stopped: 'These pipelines are charged to this key and pause within 30 seconds:',
  adopt: 'Charge to my key',
  adoptLabel: (name: string) => `Charge to my key: ${name}`,
  destinations: 'This key set these destinations, and they stay active. Check the addresses if the key has leaked:',
  keys: 'This key created these keys, and they stay active. If it has leaked, revoke the keys you don’t recognize:',
  webhook: 'Account webhook',
  to: (destination: string) => `to ${destination}`,
} as const

export const ORDER = {
  columns: {
    number: 'Order',
    created: 'Created (UTC)',
    credits: 'Credits',
    amount: 'Amount',
    payment: 'Payment',
    state: 'State',
  },
  paid: (time: string) => `Paid ${time}`,
  withheld: ', credits withheld',
  refunded: (amount: string) => `, ${amount} refunded`,
} as const

const SPECIAL: Readonly<Record<string, string>> = {
  api: 'API',
  clickhouse: 'ClickHouse',
  graphql: 'GraphQL',
  http: 'HTTP',
  json: 'JSON',
  ok: 'OK',
  postgres: 'PostgreSQL',
  rest: 'REST',
  rpc: 'RPC',
  x402: 'x402',
}

/** A wire name as a label: `rest_requests_per_second` is "REST requests per second". */
export function labelOf(name: string): string {
  const text = name
    .split(/[_.]/)
    .map((word) => (Object.hasOwn(SPECIAL, word) ? SPECIAL[word] : word))
    .join(' ')
  return Object.hasOwn(SPECIAL, name) ? text : text.charAt(0).toUpperCase() + text.slice(1)
}
