// Text of the owner pages, by section.

export const pagesHome = 'Home'
export const pagesUsage = 'Usage'
export const pagesLogs = 'Logs'
export const pagesActivity = 'Connections'
export const pagesKeys = 'Keys'
export const pagesPipelines = 'Pipelines'
export const pagesData = 'Data'
export const pagesExplorer = 'API explorer'
export const pagesGraphql = 'GraphQL'
export const pagesBilling = 'Billing'
export const pagesAlerts = 'Alerts'
export const pagesTeam = 'Team'
export const pagesSettings = 'Settings'
export const pagesNone = 'Page not found. Choose one from the menu.'
export const groupsData = 'Data delivery'
export const groupsAccount = 'Account'

export const startTitle = 'Get started'
export const startHide = 'Hide'
export const startDone = ' (done)'
export const startCall = 'Make your first call'
export const startStream = 'Open your first stream'
export const startAlert = 'Set up your first alert'
export const startAlertLink = 'Add an alert'

export const accountPlanChanged = (before: string, after: string) =>
  `The plan of this account changed from ${before} to ${after} while this page was open. Limits and credits below are those of ${after}.`

export const creditsTitle = 'Credit balance'
export const creditsTopUp = 'Top up'
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
export const creditsCaption = 'Credit balance'
export const creditsCaptionForecast = (until: string) => ` · dashed: forecast until ${until}`
export const creditsForecast = 'Balance'
export const creditsForecastAt = (date: string) => `${date} (forecast)`
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
export const forecastExpires = (date: string) => `No recent usage. Your credits expire on ${date}.`
export const forecastExpiresFirst = (perDay: string, date: string) =>
  `At ${perDay} credits per day, your credits last until the plan ends on ${date}.`
export const forecastUnused = 'No recent usage.'
export const forecastRenewed = (perDay: string) =>
  `You use ${perDay} ${perDay === '1' ? 'credit' : 'credits'} per day, less than your plan provides.`
export const forecastFar = (perDay: string) => `At ${perDay} credits per day, your credits last more than ten years.`
export const forecastDays = (count: number) => (count === 1 ? '1 day' : `${count.toLocaleString('en')} days`)
export const forecastHours = 'less than a day'

export const usageTitle = 'Usage'
export const usagePeriod = (from: string, to: string) => `${from} to ${to} UTC`
export const usageMore = 'All usage'
export const usageDuration = 'Period'
export const usageDurations = { 1: '1 month', 3: '3 months', 6: '6 months', 12: '12 months' } as const
export const usageGroup = 'Group by'
export const usageChartTitle = 'Credits per day'
export const usageGroupOptions = { type: 'Endpoint', key: 'Key' } as const
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
export const limitsColumnsUse = 'Use'
export const limitsPerConnection = 'per connection'
export const limitsUnlimited = 'No limit'
export const limitsOpenUse = (now: string) => `${now}, no limit`
export const limitsUse = (now: string, most: string) => `${now} of ${most}`
export const limitsOwnRequests = 'Requests of this page count toward the limits.'
export const limitsUsed = (limit: string, share: string) => `${limit}: ${share} used`

export const KEY_ENDS = { revoked: 'Revoked', expired: 'Expired', replaced: 'Replaced' } as const

export const keysTitle = 'Keys'
export const keysTable = 'Keys of the account'
export const keysColumnsKey = 'Key'
export const keysColumnsLabel = 'Label'
export const keysColumnsKind = 'Type'
export const keysColumnsState = 'State'
export const keysColumnsActions = 'Actions'
export const keysColumnsSpent = 'Used (30 days)'
export const keysColumnsCap = 'Spending limit'
export const keysColumnsLeft = 'Limit left'
export const keysColumnsLastUsed = 'Last used'
export const keysUnused = 'None recorded'
export const keysJustUsed = 'In the last hour'
export const keysToday = 'Today'
export const keysUsedHour = (from: string, to: string) => `${from}–${to} UTC`
export const keysColumnsCreated = 'Created'
export const keysColumnsSelect = 'Select'
export const keysSelect = (prefix: string) => `Select ${prefix}`
export const keysColumnsProducts = 'Products'
export const keysColumnsRanges = 'Allowed IP addresses'
export const keysKinds = { api: 'API key', service: 'Service key' } as const
export const keysActive = 'Active'
export const keysReplaced = 'Active (replaced)'
export const keysUntil = (time: string) => `until ${time}`
export const keysFind = 'Find'
export const keysFindHint = 'Label, prefix or IP address'
export const keysShowInactive = 'Show inactive keys'
export const keysShowColumns = 'Show all columns'
export const keysCreate = 'Create key'
export const keysCount = (used: string) => `${used} ${used === '1' ? 'key' : 'keys'}`
export const keysCountOf = (used: string, max: string) => `${used} of ${max} keys`
export const keysActions = { change: 'Edit', rotate: 'Rotate', revoke: 'Revoke' } as const
export const keysNoKeys = 'No active keys. Create one here, or with a service key:'
export const keysNotFound = 'No matching keys.'

export const keyFormEditTitle = (prefix: string) => `Edit ${prefix}…`
export const keyFormSave = 'Save'
export const keyFormLabel = 'Label'
export const keyFormLabelHint = 'A name you’ll recognize, up to 100 characters'
export const keyFormKind = 'Type'
export const keyFormKinds = { api: 'API key: read market data', service: 'Service key: manage the account' } as const
export const keyFormLimits = 'Limits and restrictions'
export const keyFormProducts = 'Products'
export const keyFormProductHints: Readonly<Record<string, string>> = {
  info: 'POST /info',
  stream: 'WebSocket',
  rpc: 'JSON-RPC',
  graphql: 'Queries and subscriptions',
  data: 'Archive and history',
  platform: 'Usage of the account',
}
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

export const revokeMany = (count: number) =>
  count === 0 ? 'Revoke selected' : `Revoke ${count === 1 ? '1 key' : `${count.toLocaleString('en')} keys`}`
export const revokeManyName = (count: number) => (count === 1 ? '1 key' : `${count.toLocaleString('en')} keys`)
export const revokeManyText =
  'These keys stop working within 30 seconds; open connections close within a minute. This can’t be undone. Pipelines that are charged to them pause.'
export const revokeManyDone = (done: number, all: number) => `${done} of ${all} revoked`

export const issuedTitles = { api: 'Save your API key', service: 'Save your service key' } as const
export const issuedText = 'Copy it now. You won’t be able to see it again.'
export const issuedRepeatedTitle = 'Key already created'
export const issuedRepeated = (prefix: string, label: string) =>
  `An earlier request created ${prefix}… ${label}, but its response was lost and the key can’t be shown again. Rotate it, or revoke it and create a new one.`
export const issuedOldKeyEnds = (time: string) => `The old key stops working on ${time} UTC.`

export const settingsAccount = 'Account'
export const settingsName = 'Account ID'
export const settingsPeriodEnds = 'Plan credits end'
export const settingsNoEnd = 'Never'
export const settingsSignedIn = 'Signed in as'
export const settingsSessionEnds = 'Session ends'
export const settingsUtc = (time: string) => `${time} UTC`
