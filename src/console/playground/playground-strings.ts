// Text of the GraphQL page.

export const title = 'GraphQL'
export const intro =
  'Write a query or a subscription, and run it with your session. A subscription is charged by the minute, as on the WebSocket, until you stop it.'
export const reference = 'Reference'
export const document = 'GraphQL document'
export const variables = 'Variables (JSON)'
export const run = 'Run'
export const runHint = 'Ctrl-Enter'
export const stop = 'Stop'
export const key = 'Use an API key instead of the session'
export const keyHint =
  'The session can subscribe to market data only. An API key can also read wallets. It stays in this page until you leave it.'
export const keyLabel = 'API key'
export const results = 'Results'
export const noResults = 'Run the document to see its results here.'
export const states = {
  idle: 'Not running',
  connecting: 'Connecting…',
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
} as const
export const first = (ms: number) => `first result after ${ms} ms`
export const received = (count: number) => `${count} ${count === 1 ? 'result' : 'results'}`
export const price = (credits: string) => `Credits: ${credits}`
export const priceOf = (subscription: string, credits: string) => `credits of ${subscription}: ${credits}`
export const cut = (count: number) => `The last ${count} results are shown.`
export const closed = (code: number, reason: string) => `The connection closed (${code})${reason ? `: ${reason}` : '.'}`
export const badVariables = 'The variables are not a JSON object.'
export const unreachable = 'The gateway could not be reached.'
export const noSchema = 'The schema could not be loaded. Reload the page to try again.'
export const docs = 'Schema'
export const docsFind = 'Find a subscription'
export const docsInsert = (name: string) => `Insert ${name}`
export const docsBack = 'All subscriptions'
export const docsArguments = 'Arguments'
export const docsFields = 'Fields'
export const docsValues = 'Scalar: a value without fields.'
export const docsNone = 'No subscription matches.'
export const history = 'History of this tab'
export const historyClear = 'Clear history'
export const historyEmpty = 'Nothing was run in this tab yet.'
