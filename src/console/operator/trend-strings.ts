// Text of the charts on the overview.

export const trendTitle = 'Trends'
export const trendPeriod = 'Period'
export const trendPeriods = { '2d': '48 hours by hour', '30d': '30 days by day', '12m': '12 months by month' } as const
export const trendRevenue = (currency: string) => `Revenue (${currency})`
export const trendNoRevenue = 'Revenue'
export const trendNoOrders = 'No orders were paid in this period.'
export const trendKept = 'Net'
export const trendRefunded = 'Refunded since'
export const trendOther = 'Other'
export const trendCredits = 'Credits used, by product'
export const trendNoCredits = 'No credits were used in this period.'
export const trendCalls = 'Calls, by product'
export const trendNoCalls = 'No calls in this period.'
export const trendRejected = 'Errors: rejected requests, by code'
export const trendNoRejected = 'No requests were rejected in this period.'
export const trendRejectedKept = 'Rejected requests are kept for 90 days.'
export const trendCreditsText = (amount: string) => `${amount} credits`
export const trendCallsText = (count: string) => `${count} calls`
export const trendRequestsText = (count: string) => `${count} requests`
export const trendChart = (title: string, period: string) => `${title}, ${period}, UTC`
export const trendTable = 'Show as a table'
export const trendColumns = {
  hour: 'Hour (UTC)',
  day: 'Day (UTC)',
  month: 'Month (UTC)',
  paid: 'Paid',
  refunded: 'Refunded since',
  credits: 'Credits used',
  calls: 'Calls',
  minutes: 'Stream minutes',
  rows: 'Pipeline rows',
  rejected: 'Rejected requests',
} as const
