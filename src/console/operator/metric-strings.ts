// Text of the metrics page.

export const metricsText = 'The values of '
export const metricsTextMore = ', which Prometheus reads. '
export const metricsGuide = 'Reference of the metrics'
export const metricsNotCounted =
  'Gateway requests are not counted. Set the secret METRICS_TOKEN, so that the gateway reports its counters. '
export const metricsNotCountedGuide = 'How to set it'
export const metricsSearch = 'Find a metric'
export const metricsPlaceholder = 'Name or help text'
export const metricsCount = (shown: number, all: number) => `${shown} of ${all} metrics`
export const metricsUpdated = 'Updated'
export const metricsNone = (query: string) => `No metric matches “${query}”.`
export const metricGroups = {
  traffic: 'Requests and streams',
  credits: 'Credits',
  feed: 'Feed',
  archive: 'Archive and pipelines',
  sources: 'Sources',
  other: 'Storage and servers',
} as const
export const metricsFigures = {
  counter: 'since the counters began',
  histogram: 'requests since the counters began',
  gauge: 'now',
} as const
export const metricsNoValue = 'No value'
export const metricsEmpty = (count: number) =>
  count === 1 ? '1 metric without values' : `${count} metrics without values`
export const metricsDay = 'Last 24 hours'
export const metricsSession = 'Since you opened the page'
export const metricsDayIncrease = (most: string) => `at most ${most} in 10 minutes`
export const metricsSessionIncrease = (total: string) => `${total} more`
export const metricsRange = (low: string, high: string) => (low === high ? low : `${low} to ${high}`)
export const metricsWaiting = 'Not enough values yet'
export const metricsLine = (metric: string, span: string, text: string) => `${metric}, ${span}: ${text}`
export const metricsValues = (count: number) => (count === 1 ? '1 value' : `${count} values`)
export const metricsValue = 'Value'
export const metricsRequests = 'Requests'
export const metricsP50 = 'Median, at most'
export const metricsP99 = '99th percentile, at most'
export const metricsLonger = 'over 10 s'
