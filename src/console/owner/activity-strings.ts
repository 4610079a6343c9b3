// Text of open connections and rejected requests.

export const streamsTitle = 'Active connections'
export const streamsSummary = (connections: number, subscriptions: number, credits: string) =>
  `${connections} connections, ${subscriptions} subscriptions, ${credits} credits per minute`
export const refresh = 'Refresh'
export const streamsTable = 'Active subscriptions, most expensive first'
export const streamsColumnsChannel = 'Channel'
export const streamsColumnsBody = 'Subscription'
export const streamsColumnsKey = 'Key'
export const streamsColumnsSince = 'Since'
export const streamsColumnsCredits = 'Credits per minute'
export const streamsEmpty = 'No active connections. Watch an order book in a terminal:'
export const refusalsTitle = 'Rejected requests'
export const refusalsCode = 'Code'
export const refusalsAllCodes = 'All'
export const refusalsCodeCount = (code: string, count: string) => `${code} (${count} in 24 h)`
export const refusalsLogs = 'All in the logs'
export const refusalsTable = 'The last 50 rejected requests, by cause'
export const refusalsColumnsCount = 'Count'
export const refusalsColumnsLast = 'Last'
export const refusalsColumnsKey = 'Key'
export const refusalsColumnsProduct = 'Product'
export const refusalsColumnsType = 'Endpoint'
export const refusalsColumnsCode = 'Code'
export const refusalsColumnsReason = 'Reason'
export const refusalsColumnsRequest = 'Last request ID'
export const refusalsEmpty = 'No rejected requests. Send an invalid request to see how it appears:'
