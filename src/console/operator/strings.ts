// Text of the operator pages, by page.

export const pagesOverview = 'Overview'
export const pagesAccounts = 'Accounts'
export const pagesKeys = 'Keys'
export const pagesPlans = 'Plans'
export const pagesTopups = 'Credit grants'
export const pagesOrders = 'Orders'
export const pagesUsage = 'Usage'
export const pagesRefusals = 'Rejected requests'
export const pagesFeed = 'Feed'
export const pagesSources = 'Sources'
export const pagesPipelines = 'Pipelines'
export const pagesMetrics = 'Metrics'
export const pagesAlerts = 'Alerts'
export const pagesAudit = 'Audit log'
export const pagesIncidents = 'Incidents'
export const pagesStaff = 'Staff'

export const commonNoPage = 'Page not found. Choose one above.'
export const commonAccount = 'Account'
export const commonKey = 'Key'
export const commonLabel = 'Label'
export const commonPlan = 'Plan'
export const commonState = 'State'
export const commonActions = 'Actions'
export const commonCode = 'Code'
export const commonMessage = 'Message'
export const commonRequest = 'Request ID'
export const commonTime = 'Time'
export const commonUtc = (name: string) => `${name} (UTC)`
export const commonLastUsed = 'Last used'
export const commonNoUse = 'None recorded'
export const commonCreated = 'Created'
export const commonOf = (list: string, account: string) => `${list} of ${account}`

export const accountsIdRule = '1 to 64 letters, digits, _ or -; start with a letter or digit'
export const accountsSearch = 'Part of the name'
export const accountsAllPlans = 'All'
export const accountsBalance = 'Balance (credits)'
export const accountsKeys = 'Keys'
export const accountsEmpty = 'No matching accounts. From a terminal:'
export const accountsNewId = 'Account ID'
export const accountsNewExample = 'acme'
export const accountsNewPlan = 'Plan of the new account'
export const accountsCreate = 'Create account'
export const accountsCreateSubmit = 'Create this account'

export const accountFiguresBalance = 'Balance (credits)'
export const accountFiguresHeld = (credits: string) => `${credits} reserved for requests in progress`
export const accountFiguresPlan = 'Plan'
export const accountFiguresPeriodEnds = (day: string) => `period ends ${day}`
export const accountFiguresNoEnd = 'no end date'
export const accountFiguresSpent = 'Credits used'
export const accountFiguresSince = (day: string) => `since ${day}`
export const accountFiguresGranted = 'Credits granted'
export const accountFiguresGrantedBy = 'by plans and grants'
export const accountFiguresWrittenOff = 'Written off'
export const accountFiguresWrittenOffWhy = 'served after the balance reached zero'
export const accountSections = 'Parts of this page'
export const accountUsage = 'Usage by day (UTC)'
export const accountUsageSummary = (
  credits: string,
  from: string,
  to: string,
  calls: string,
  minutes: string,
  rows: string,
) => `${credits} credits from ${from} to ${to}: ${calls} calls, ${minutes} stream minutes, ${rows} pipeline rows`
export const accountUsageCut = '. The chart shows the first 1,000 rows.'
export const accountUsageChart = (from: string, to: string) => `Credits by day, ${from} to ${to}`
export const accountCredits = (amount: string) => `${amount} credits`
export const accountTopUp = 'Add credits'
export const accountTopUpSubmit = 'Add these credits'
export const accountTopUpCredits = 'Credits to add'
export const accountTopUpCreditsRule = 'A number such as 5,000 or 0.5'
export const accountTopUpName = 'Reference'
export const accountTopUpNameRule = 'Without spaces, such as invoice-1; credits are added once per reference'
export const accountTopUpDone = (credits: string, balance: string) =>
  `${credits} credits added. The balance is now ${balance}.`
export const accountTopUpRepeated = (reference: string) =>
  `Nothing was added, because the reference ${reference} has already been used.`
export const accountPlanSelect = 'Move to plan'
export const accountPlanNow = (plan: string) => `${plan} (now)`
export const accountPlanSubmit = 'Change plan'
export const accountPlanConfirm = (plan: string) => `Move to ${plan}`
export const accountPlanText = (before: string, after: string) =>
  `Takes effect immediately: unused credits of ${before} expire, and the first period of ${after} starts with its credits. Any terms agreed with the account no longer apply.`
export const accountPlanDone = (before: string, after: string) => `Moved from ${before} to ${after}.`

export const keysKind = 'Type'
export const keysCap = 'Spending limit (credits)'
export const keysCapLeft = 'Limit left'
export const keysNoCap = 'No limit'
export const keysActive = 'Active'
export const keysActiveUntil = (time: string) => `Active until ${time}`
export const keysExpired = 'Expired'
export const keysRevoked = (time: string) => `Revoked ${time}`
export const keysReplaced = 'Replaced'
export const keysRevoke = 'Revoke'
export const keysRevokeLabel = (prefix: string) => `Revoke ${prefix}`
export const keysRevokeSubmit = 'Revoke this key'
export const keysRevokeText = (prefix: string, account: string, label: string) =>
  `${prefix} of ${account}${label === '' ? '' : ` (${label})`} stops working within 30 seconds; open connections close within a minute. This can’t be undone.`
export const keysEmpty = 'No keys. Create one:'
export const keysNewLabel = 'Label of the new key'
export const keysNewKind = 'Type'
export const keysKinds = { api: 'API key: read market data', service: 'Service key: manage the account' } as const
export const keysCreate = 'Create key'
export const keysSecret = (prefix: string) => `Key ${prefix}…`

export const grantsGranted = 'Granted'
export const grantsCredits = 'Credits'
export const grantsReference = 'Reference'
export const grantsEmpty = 'No credits granted beyond plans. From a terminal:'

export const refusalsEndpoint = 'Endpoint'
export const refusalsEmpty = 'No rejected requests in the retained period.'

export const pipelinesId = 'Pipeline ID'
export const pipelinesName = 'Name'
export const pipelinesTopic = 'Topic'
export const pipelinesDestination = 'Destination'
export const pipelinesStatus = 'Desired status'
export const pipelinesChanged = 'Changed'
export const pipelinesEmpty = 'No pipelines. Account owners create them with a service key: '
export const pipelinesGuide = 'how to create a pipeline'

export const businessTitle = 'Usage and revenue'
export const businessOrdersPaid = 'Orders paid'
export const businessOpenOrders = (count: string) => `${count} open`
export const businessGranted = 'Credits granted beyond plans'
export const businessSpent = 'Credits used'
export const businessCalls = 'Calls'
export const businessRefusals = 'Rejected requests'
export const businessSignUpLinks = 'Sign-up links'
export const businessSignUpCount = (used: string, max: string) => `${used} of ${max}`
export const businessSignUpNote = 'in the last 24 hours'
export const businessCost = 'Platform cost'
export const businessCostNote = 'estimate for a deployment'
export const businessCostUnknown = 'the block log did not respond'
export const businessPeriod = (from: string, to: string) => `${from} to ${to} (UTC), up to 15 minutes late`
export const businessNoSpend = (from: string, to: string) => `No credits used from ${from} to ${to}.`
export const businessByDay = 'Credits used per day'
export const businessPeriods = 'Periods'
export const businessChart = (from: string, to: string) => `Credits used per UTC day, ${from} to ${to}`
export const businessCredits = (amount: string) => `${amount} credits`
export const businessDelay = 'Data delay'
export const businessConnections = 'Open connections'
export const businessConnectionsNote = 'of clients, last minute'
export const businessAccounts = 'Accounts'
export const businessAccountKeys = (count: string) => `with ${count} keys`
export const businessColumnsDay = 'Day (UTC)'
export const businessColumnsGranted = 'Credits granted'
export const businessColumnsSpent = 'Credits used'
export const businessColumnsCalls = 'Calls'
export const businessColumnsMinutes = 'Stream minutes'
export const businessColumnsRows = 'Pipeline rows'
export const businessColumnsRefusals = 'Rejected requests'
export const businessFrom = 'From (UTC)'
export const businessTo = 'To (UTC)'
export const businessToday = 'Today'
export const businessDays = (count: number) => `${count} days`
export const businessTable = (from: string, to: string) => `Days from ${from} to ${to}`
export const businessEmpty = 'No sales or usage in this period.'
export const businessAssumptions = 'Assumptions of the estimates'
export const businessNoPrice = 'Set a credit price to see the value of credits in dollars: '
export const businessNoPriceIn = ' in '

export const signUpWarningNetworks = (count: number, max: number) => `${count} networks, at most ${max} links from one`
export const signUpWarningUnknownNetworks = 'unknown networks'
export const signUpWarningUsed = (links: number, perDay: number, by: string, domains: number, max: number) =>
  `${links} of ${perDay} sign-up links in the last 24 hours are used: by ${by}; to ${domains} e-mail domains, at most ${max} to one.`
export const signUpWarningReserved = 'The rest is reserved for networks that have not used any.'
export const signUpWarningExhausted =
  'Only existing account owners get links now. Raise "perDay" in SIGNUP_SETTINGS, or set "turnstileSiteKey" there.'

export const ordersTitle = 'Orders'
export const ordersFilters: Readonly<Record<string, string>> = { state: 'States', provider: 'Payment' }
export const ordersAll: Readonly<Record<string, string>> = { state: 'All', provider: 'Any payment' }
export const ordersNote = 'Note'
export const ordersActions = { paid: 'Mark as paid', void: 'Void', refund: 'Record refund' } as const
export const ordersSubmit = { paid: 'Mark this order as paid', void: 'Void this order' } as const
export const ordersRefundTitle = (number: string) => `Record a refund of ${number}`
export const ordersRefundText = (account: string, price: string) =>
  `For money that you returned to ${account}. This moves no money: it corrects the invoice of ${price}. Credits stay unchanged.`
export const ordersRefundAmount = (currency: string) => `Refunded so far, in ${currency}`
export const ordersVoidText = (account: string, price: string) => `${account} can no longer pay ${price}.`
export const ordersPaidText = (account: string, price: string, credits: string) =>
  `Confirms that you received ${price}. ${account} gets ${credits} credits, once.`
export const ordersNoteText = (note: string) => ` Note on the order: ${note}.`
export const ordersEmpty = 'No matching orders. Account owners can place orders if CHECKOUT is enabled.'
export const ordersNewest = 'Newest'
export const ordersOlder = 'Older'

export const searchLabel = 'Search'
export const searchPlaceholder = 'Account, key prefix or request ID'
export const searchTitle = 'Search'
export const searchResults = (query: string) => `Results for “${query}”`
export const searchNothing = (query: string) =>
  `No results for “${query}”. Enter part of an account name, a key prefix or a full request ID.`
export const searchAccounts = 'Accounts'
export const searchKeys = 'Keys'
export const searchRefusals = 'Rejected requests'
export const searchAudit = 'Audit log'
export const searchRevoked = 'Revoked'
export const searchNotRevoked = 'No'
