// Text of the request log.

export const title = 'Logs'
export const table = 'Calls and socket events, newest first'
export const kept = (hours: string) => `Calls appear within 30 seconds and are kept for ${hours} hours.`
export const off = 'This gateway keeps no request log.'
export const refresh = 'Refresh'
export const clear = 'Clear filters'

export const filters = 'Filters'
export const period = 'Period'
export const periods = { '': 'All', 0.25: '15 minutes', 1: '1 hour', 6: '6 hours' } as const
export const key = 'Key'
export const keyHint = 'First 12 characters'
export const product = 'Product'
export const products = {
  '': 'All',
  info: 'Info',
  rpc: 'JSON-RPC',
  data: 'Data API',
  stream: 'WebSocket',
  graphql: 'GraphQL',
} as const
export const type = 'Type'
export const typeHint = 'l2Book'
export const status = 'Status'
export const statuses = { '': 'All', '2xx': '2xx: success', '4xx': '4xx: rejected', '5xx': '5xx: failed' } as const
export const code = 'Error code'
export const codeHint = 'rate_limited'

export const matching = 'Matching calls'
export const since = (time: string) => `since ${time} UTC`
export const median = 'Median duration (p50)'
export const slowest = '99th percentile (p99)'
export const leftOut = 'Not listed'
export const sampled = 'Busy keys are sampled, and these calls only counted'
export const complete = 'Every call is listed'
export const ms = (value: string) => `${value} ms`
export const belowOne = '< 1 ms'
export const none = '–'

export const columnsTime = 'Time'
export const ago = (duration: string) => `${duration} ago`
export const columnsStatus = 'Status'
export const columnsCode = 'Error'
export const columnsDuration = 'Duration'
export const columnsCredits = 'Credits'
export const columnsRequest = 'Request ID'

export const empty = 'No calls yet. Make your first call:'
export const notFound = 'No calls match these filters.'
