// Text of the owner page, by section.

export const accountPage = 'Account'
export const accountPlanChanged = (before: string, after: string) =>
  `The plan of this account changed from ${before} to ${after} while this page was open. Limits and credits below are those of ${after}.`

export const creditsBalance = 'Credits left'
export const creditsDaily = 'Average daily usage (7 days)'
export const creditsTotal = 'Total credits used'
export const creditsPlan = 'Plan'
export const creditsPlanUsed = (percent: number) => `${percent}% of the plan’s credits in this period are used`
export const creditsPlanLeft = (left: string, all: string) => `${left} of ${all} plan credits left. `
export const creditsNoEnd = (start: string) => `The period started on ${start} UTC and does not end.`
export const creditsPeriod = (start: string, end: string) =>
  `The period started on ${start} UTC and ends on ${end} UTC, when unused plan credits expire.`
export const creditsRenewal = (credits: string) => ` It renews with ${credits} credits.`
export const creditsChart = (since: string | undefined, now: string) =>
  `Credit balance per day since ${since} UTC; now ${now}`
export const creditsChartForecast = (until: string) => `; forecast until ${until}`
export const creditsCaption = (max: string) => `Credit balance, up to ${max}`
export const creditsCaptionForecast = ' · dashed: forecast'
export const creditsShowDays = 'Show daily data'
export const creditsTable = 'Credit balance by day'
export const creditsColumnsDay = 'Day (UTC)'
export const creditsColumnsOpening = 'Opening'
export const creditsColumnsGranted = 'Granted'
export const creditsColumnsExpired = 'Expired'
export const creditsColumnsCharged = 'Charged'
export const creditsColumnsClosing = 'Closing'

export const forecastSpent = 'No credits left. Requests are rejected until you top up or the plan renews.'
export const forecastUsedUp = (date: string, span: string) =>
  `At your current rate, credits last until ${date} (${span}).`
export const forecastUnused = 'No recent usage.'
export const forecastRenewed = (perDay: string) => `You use ${perDay} credits per day, less than your plan provides.`
export const forecastFar = (perDay: string) => `At ${perDay} credits per day, your credits last more than ten years.`
export const forecastDays = (count: number) => (count === 1 ? '1 day' : `${count.toLocaleString('en')} days`)
export const forecastHours = 'less than a day'

export const usageTitle = 'Usage'
export const usagePeriod = (from: string, to: string) => `, ${from} to ${to} UTC`
export const usageDuration = 'Period'
export const usageDurations = { 1: '1 month', 3: '3 months', 6: '6 months', 12: '12 months' } as const
export const usageGroup = 'Group by'
export const usageGroups = { type: 'endpoint', key: 'key' } as const
export const usageChart = (from: string, to: string, by: string) => `Credits per day, ${from} to ${to} UTC, by ${by}`
export const usageCredits = (amount: string) => `${amount} credits`
export const usageShowDays = 'Show daily data'
export const usageByDay = (by: string) => `Usage by day and ${by}`
export const usageByKey = 'Usage by key'
export const usageByType = 'Usage by endpoint'
export const usageEmpty = 'No usage yet. Make your first call:'
export const usageEmptyTypes = 'No usage in this period.'
export const usageOther = 'Other'
export const usageColumnsCredits = 'Credits'
export const usageColumnsCalls = 'Calls'
export const usageColumnsMinutes = 'Stream minutes'
export const usageColumnsRows = 'Pipeline rows'
export const usageColumnsKey = 'Key'
export const usageColumnsLabel = 'Label'
export const usageColumnsProduct = 'Product'
export const usageColumnsType = 'Endpoint'
export const usageColumnsDay = 'Day (UTC)'
export const usageColumnsPart = 'Key or endpoint'

export const limitsTitle = 'Limits'
export const limitsTable = 'Current use of each limit'
export const limitsColumnsLimit = 'Limit'
export const limitsColumnsNow = 'Current'
export const limitsColumnsMax = 'Maximum'
export const limitsColumnsUsed = 'Used'
export const limitsPerConnection = 'per connection'
export const limitsUnlimited = 'No limit'
export const limitsUsed = (limit: string, share: string) => `${limit}: ${share} used`

export const KEY_ENDS = {
  revoked: (time: string) => `Revoked ${time}`,
  expired: (time: string) => `Expired ${time}`,
  replaced: (time: string) => `Replaced ${time}`,
} as const

export const keysTitle = 'Keys'
export const keysTable = 'Keys of the account'
export const keysColumnsKey = 'Key'
export const keysColumnsLabel = 'Label'
export const keysColumnsKind = 'Type'
export const keysColumnsState = 'State'
export const keysColumnsActions = 'Actions'
export const keysColumnsSpent = 'Credits used (30 days)'
export const keysColumnsCap = 'Spending limit'
export const keysColumnsLeft = 'Cap remaining'
export const keysColumnsLastUsed = 'Last used'
export const keysColumnsCreated = 'Created (UTC)'
export const keysColumnsProducts = 'Products'
export const keysColumnsRanges = 'Allowed IP addresses'
export const keysKinds = { api: 'API key', service: 'Service key' } as const
export const keysActive = 'Active'
export const keysActiveUntil = (time: string) => `Active until ${time}`
export const keysReplacedUntil = ' (replaced)'
export const keysFind = 'Find'
export const keysFindHint = 'Label, prefix or IP address'
export const keysShowInactive = 'Show inactive keys'
export const keysCreate = 'Create key'
export const keysCount = (used: string, max: string) => `${used} of ${max} keys`
export const keysActions = { change: 'Edit', rotate: 'Rotate', revoke: 'Revoke' } as const
export const keysNoKeys = 'No active keys. Create one here, or with a service key:'
export const keysNotFound = 'No matching keys.'

export const keyFormEditTitle = (prefix: string) => `Edit ${prefix}…`
export const keyFormSave = 'Save'
export const keyFormLabel = 'Label'
export const keyFormLabelHint = 'A name you’ll recognize, up to 100 characters'
export const keyFormKind = 'Type'
export const keyFormKinds = { api: 'API key: read market data', service: 'Service key: manage the account' } as const
export const keyFormProducts = 'Products'
export const keyFormPipelines = 'Pipelines'
export const keyFormPipelineOptions = {
  '': 'Only its own if the key has a spending limit, allowed addresses or an expiry; otherwise all',
  own: 'Only its own pipelines',
  all: 'All pipelines of the account',
} as const
export const keyFormCap = 'Spending limit (credits)'
export const keyFormCapHint = 'Leave empty for no limit.'
export const keyFormRanges = 'Allowed IP addresses'
export const keyFormRangesHint = 'Such as 192.0.2.0/24, separated by spaces. Leave empty to allow all.'
export const keyFormExpires = 'Expires'
export const keyFormExpiresHint = 'At 00:00 UTC on this day. Leave empty for no expiry.'

export const rotateTitle = (prefix: string, label: string) => `Rotate ${prefix}… ${label}`
export const rotateSubmit = 'Rotate'
export const rotateText =
  'The new key keeps the label, products, allowed addresses and expiry, and shares the spending limit. A key can be rotated once.'
export const rotateGrace = 'Old key stops working'
export const rotateGraces = {
  0: 'immediately',
  3600: 'in 1 hour',
  86400: 'in 1 day',
  604800: 'in 1 week',
  2592000: 'in 30 days',
} as const

export const revokeSubmit = 'Revoke this key'
export const revokeText =
  ' stops working within 30 seconds; open connections close within a minute. This can’t be undone. If you signed in with this key, you will be signed out.'

export const issuedTitles = { api: 'Save your API key', service: 'Save your service key' } as const
export const issuedText = 'Copy it now. You won’t be able to see it again.'
export const issuedTest = 'Send a test request from a terminal. The call appears on this page within a minute:'
export const issuedRepeatedTitle = 'Key already created'
export const issuedRepeated = (prefix: string, label: string) =>
  `An earlier request created ${prefix}… ${label}, but its response was lost and the key can’t be shown again. Rotate it, or revoke it and create a new one.`
export const issuedOldKeyEnds = (time: string) => `The old key stops working on ${time} UTC.`

export const streamsTitle = 'Active connections'
export const streamsSummary = (connections: number, subscriptions: number, credits: string) =>
  `${connections} connections, ${subscriptions} subscriptions, ${credits} credits per minute`
export const streamsRefresh = 'Refresh'
export const streamsTable = 'Active subscriptions, most expensive first'
export const streamsColumnsChannel = 'Channel'
export const streamsColumnsBody = 'Subscription'
export const streamsColumnsKey = 'Key'
export const streamsColumnsSince = 'Since (UTC)'
export const streamsColumnsCredits = 'Credits per minute'
export const streamsEmpty = 'No active connections. Watch an order book in a terminal:'

export const refusalsTitle = 'Rejected requests'
export const refusalsCode = 'Code'
export const refusalsAllCodes = 'All'
export const refusalsCodeCount = (code: string, count: string) => `${code} (${count} in 24 h)`
export const refusalsRefresh = 'Refresh'
export const refusalsTable = 'The last 50 rejected requests'
export const refusalsColumnsTime = 'Time (UTC)'
export const refusalsColumnsKey = 'Key'
export const refusalsColumnsProduct = 'Product'
export const refusalsColumnsType = 'Endpoint'
export const refusalsColumnsCode = 'Code'
export const refusalsColumnsReason = 'Reason'
export const refusalsColumnsRequest = 'Request ID'
export const refusalsEmpty = 'No rejected requests. Send an invalid request to see how it appears:'

export const webhookTitle = 'Webhook'
export const webhookNone = 'Get notified when credits run low.'
export const webhookAdd = 'Add webhook'
export const webhookNotified = (thresholds: string) => ` is notified below ${thresholds}`
export const webhookNext = (thresholds: string) => `; next at ${thresholds}`
export const webhookTest = 'Send test event'
export const webhookDelivered = (answer: string) => `Test event delivered: ${answer}.`
export const webhookNotDelivered = (answer: string) => `Test event not delivered: ${answer}.`
export const webhookEdit = 'Edit'
export const webhookRemove = 'Remove webhook'
export const webhookRemoveText = 'Undelivered events are dropped. A new webhook gets a new signing secret.'
export const webhookRemoveName = 'webhook'
export const webhookTable = 'The last 100 events'
export const webhookColumnsTime = 'Time (UTC)'
export const webhookColumnsThreshold = 'Threshold'
export const webhookColumnsState = 'State'
export const webhookColumnsAttempts = 'Attempts'
export const webhookColumnsResponse = 'Response'
export const webhookColumnsEvent = 'Event ID'
export const webhookCreditsBelow = (threshold: string) => `Credits below ${threshold}`
export const webhookEmpty = 'No events yet. Send a test event.'
export const webhookSave = 'Save'
export const webhookUrl = 'URL'
export const webhookUrlHint = 'https://…'
export const webhookThresholds = 'Thresholds'
export const webhookThresholdsHint = 'Credits, or percentages of the largest balance in the period'
export const webhookNewSecret = 'Generate a new secret'
export const webhookSecretTitle = 'Save your signing secret'
export const webhookSecretText =
  'Verify events with it, as described by Standard Webhooks. Copy it now. You won’t be able to see it again.'

export const topUpTitle = 'Top up'
export const topUpTable = 'Orders'
export const topUpEmpty = 'No orders yet.'
export const topUpStripe = 'Pay with Stripe. Credits arrive as soon as Stripe confirms the payment and do not expire.'
export const topUpManual = 'You get an invoice. Credits arrive when it is paid and do not expire.'
export const topUpPackage = (credits: string, price: string) => `${credits} credits for ${price}`
export const topUpLots = (credits: string, price: string, max: string) =>
  `Custom amount (${credits} credits = ${price}, up to ${max} lots)`
export const topUpOrder = 'Order'
export const topUpDialog = 'Order credits'
export const topUpSubmit = { stripe: 'Continue to payment', manual: 'Request invoice' } as const
export const topUpPackageSummary = (credits: string, price: string) => `${credits} credits for ${price}.`
export const topUpLotsSummary = (credits: string, count: string, price: string) =>
  `${credits} credits for ${count} × ${price}.`
export const topUpPay = 'Pay'
export const topUpInvoice = (number: string, account: string) => `Invoice ${number}: ${account}`
export const topUpOrderLabel = (number: string) => `Order ${number}`
export const topUpSumsCreated = 'Ordered (UTC)'
export const topUpSumsCredits = 'Credits'
export const topUpSumsAmount = 'Amount'
export const topUpSumsState = 'State'
export const topUpContact = 'Contact the operator of this gateway for payment details.'
export const topUpReference = (number: string) => ` Use ${number} as the payment reference.`
export const topUpPrint = 'Print or save as PDF'
export const topUpClose = 'Close'

export const invoicesTitle = 'Monthly invoices'
export const invoicesTable = 'Monthly statements'
export const invoicesMonth = 'Month (UTC)'
export const invoicesSoFar = 'so far'
export const invoicesEmpty = 'No credits granted or charged yet.'
export const invoicesLabel = (month: string) => `Invoice ${month}`
export const invoicesHeading = (account: string, from: string, to: string) => `${account}: ${from} to ${to} UTC`
export const invoicesHeadingSoFar = ', so far'
export const invoicesSumsOpening = 'Opening balance'
export const invoicesSumsExpired = 'Expired'
export const invoicesSumsCharged = 'Charged'
export const invoicesSumsClosing = 'Closing balance'
export const invoicesGrant = (time: string) => `Grant, ${time}`
export const invoicesPlan = (plan: string, time: string) => `Plan ${plan}, ${time}`
export const invoicesLines = (month: string) => `Invoice lines of ${month}`
export const invoicesColumnsProduct = 'Product'
export const invoicesColumnsType = 'Endpoint'
export const invoicesColumnsKey = 'Key'
export const invoicesColumnsLabel = 'Label'
export const invoicesColumnsCount = 'Count'
export const invoicesColumnsCredits = 'Credits'
export const invoicesNoLines = 'No usage.'
export const invoicesWrittenOff = (charged: string, lost: string) =>
  `The lines add up to ${charged} credits charged and ${lost} written off. Written-off usage was served after the balance reached zero.`
export const invoicesCsv = 'Export CSV'
