// Text of the operator pages, by page.

export const pagesOverview = 'Overview'
export const pagesAccounts = 'Accounts'
export const pagesKeys = 'Keys'
export const pagesPlans = 'Plans'
export const pagesTopups = 'Top-ups'
export const pagesOrders = 'Orders'
export const pagesUsage = 'Usage'
export const pagesRefusals = 'Rejected requests'
export const pagesFeed = 'Feed'
export const pagesSources = 'Sources'
export const pagesPipelines = 'Pipelines'
export const pagesAudit = 'Audit log'
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
export const commonNeverUsed = 'Never'
export const commonCreated = 'Created'
export const commonOf = (list: string, account: string) => `${list} of ${account}`

export const accountsIdRule = '1 to 64 letters, digits, _ or -; start with a letter or digit'
export const accountsSearch = 'Part of the name'
export const accountsAllPlans = 'All'
export const accountsBalance = 'Balance (credits)'
export const accountsKeys = 'Keys'
export const accountsEmpty = 'No matching accounts. Create one:'
export const accountsNewId = 'New account ID, such as acme'
export const accountsNewPlan = 'Plan of the new account'
export const accountsCreate = 'Create account'

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
export const accountTopUp = 'Top up'
export const accountTopUpCredits = 'Credits to add'
export const accountTopUpCreditsRule = 'A number such as 5,000 or 0.5'
export const accountTopUpName = 'Reference without spaces, such as invoice-1'
export const accountTopUpNameRule = 'No spaces'
export const accountPlanSelect = 'Move to plan'
export const accountPlanSubmit = 'Change plan'
export const accountPlanConfirm = (plan: string) => `Move to ${plan}`
export const accountPlanText = (before: string, after: string) =>
  `Takes effect immediately: unused credits of ${before} expire, and the first period of ${after} starts with its credits. Any terms agreed with the account no longer apply.`

export const keysKind = 'Type'
export const keysCap = 'Spending limit (credits)'
export const keysCapLeft = 'Cap remaining'
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
export const grantsEmpty = 'No credits granted beyond plans. Top up an account:'

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
export const businessCostNote = (period: string) => `estimate for a deployment, ${period}`
export const businessCostUnknown = 'the block log did not respond'
export const businessPeriod = (from: string, to: string) => `${from} to ${to}`
export const businessNoSpend = (from: string, to: string) => `No credits used from ${from} to ${to}.`
export const businessChart = (from: string, to: string) => `Credits used per UTC day, ${from} to ${to}`
export const businessCredits = (amount: string) => `${amount} credits`
export const businessDelay = 'Data delay'
export const businessConnections = 'Open connections'
export const businessConnectionsNote = 'of clients, last minute'
export const businessAccounts = 'Accounts'
export const businessAccountKeys = (count: string) => `with ${count} keys`
export const businessSpentByDay = 'Credits used by day (UTC)'
export const businessRefusalsByCode = 'Rejected requests by code'
export const businessRefusalsHeading = (from: string, to: string) => `Rejected requests by code, ${from} to ${to}`
export const businessCount = 'Requests'
export const businessNoRefusals = 'No rejected requests.'
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
export const businessAssumptions = 'Assumptions of the cost estimate'
export const businessNoPrice = 'Set a credit price to see the value of credits in dollars: '
export const businessNoPriceIn = ' in '

export const signUpWarningNetworks = (count: number, max: number) => `${count} networks, at most ${max} links from one`
export const signUpWarningUnknownNetworks = 'unknown networks'
export const signUpWarningUsed = (links: number, perDay: number, by: string, domains: number, max: number) =>
  `${links} of ${perDay} sign-up links in the last 24 hours are used: by ${by}; to ${domains} e-mail domains, at most ${max} to one.`
export const signUpWarningReserved = 'The rest is reserved for networks that have not used any.'
export const signUpWarningExhausted =
  'Only existing account owners get links now. Raise "perDay" in SIGNUP_SETTINGS, or set "turnstileSiteKey" there.'

export const feedTitle = 'Feed'
export const feedChain = 'Chain'
export const feedDisagreements = 'Conflicting blocks'
export const feedDisagreementsNote = 'different copies of the same block, since the last restart'
export const feedReaders = 'Readers'
export const feedReadersNote = 'hubs and relays that follow the log'
export const feedFeeders = 'Feeders (last 24 hours)'
export const feedFeedersTable = 'Feeders'
export const feedColumnsFeeder = 'Feeder'
export const feedColumnsState = 'State'
export const feedColumnsHead = 'Node height'
export const feedColumnsLag = 'Lag (ms)'
export const feedColumnsUnacked = 'Unacknowledged blocks'
export const feedColumnsReconnects = 'Reconnects'
export const feedColumnsMisfits = 'Rejected blocks'
export const feedColumnsDrifted = 'Drifted books'
export const feedColumnsLastSeen = 'Last seen'
export const feedConnected = 'Connected'
export const feedDisconnected = (why: string) => `Disconnected: ${why}`
export const feedNoFeeder = 'No feeder is connected. Start one next to the node:'
export const feedWrongBooks = 'Order-book mismatches'
export const feedNoWrongBooks = 'No mismatches.'
export const feedWrongColumnsFeeder = 'Feeder'
export const feedWrongColumnsCoin = 'Coin'
export const feedWrongColumnsReason = 'Reason'
export const feedWrongColumnsHeight = 'Block'
export const feedWrongColumnsCount = 'Count'
export const feedWrongColumnsLast = 'Last seen'
export const feedReset = 'Start a new log'
export const feedResetText =
  'Use this after the node has started over. Books and block heights restart, and clients bootstrap again.'
export const feedResetSubmit = 'Reset the feed'
export const feedResetConfirm = (chain: string) => `Empties the log of ${chain}. Accounts, keys and the archive stay.`

export const sourcesTitle = 'Sources'
export const sourcesScope = 'State as seen by the server that served this page. Budgets are shared by all servers.'
export const sourcesTable = 'Sources of info requests'
export const sourcesEmpty = 'No source is configured. Set UPSTREAMS in wrangler.toml.'
export const sourcesColumnsSource = 'Source'
export const sourcesColumnsState = 'State'
export const sourcesColumnsLag = 'Lag (ms)'
export const sourcesColumnsMedian = 'Median latency (ms)'
export const sourcesColumnsBudget = 'Budget left'
export const sourcesColumnsLastSuccess = 'Last success (UTC)'
export const sourcesColumnsLastFailure = 'Last failure (UTC)'
export const sourcesColumnsFailing = 'Failing types'
export const sourcesColumnsChain = 'Chain'
export const sourcesColumnsNode = 'Node'
export const sourcesColumnsHeight = 'Reported height'
export const sourcesOk = 'OK'
export const sourcesBackingOff = (span: string) => `Backing off, ${span} left`
export const sourcesLate = ', late'
export const sourcesUnknown = 'Unknown'
export const sourcesNoBudget = 'Not set'
export const sourcesBudget = (left: string, perMinute: string) => `${left} of ${perMinute} per minute`
export const sourcesNever = 'Not yet'
export const sourcesNoFailure = 'None'
export const sourcesFailure = (reason: string, type: string, time: string) =>
  `${reason}${type === '' ? '' : ` (${type})`}, ${time}`
export const sourcesNodes = 'JSON-RPC nodes'
export const sourcesNodesTable = 'JSON-RPC nodes by chain'
export const sourcesNodesEmpty = 'No chain is configured. Set RPC_CHAINS in wrangler.toml.'

export const ordersTitle = 'Orders'
export const ordersStates = 'States'
export const ordersAll = 'All'
export const ordersProvider = 'Payment'
export const ordersNote = 'Note'
export const ordersActions = { paid: 'Mark as paid', void: 'Void' } as const
export const ordersSubmit = { paid: 'Mark this order as paid', void: 'Void this order' } as const
export const ordersVoidText = (account: string, price: string) => `${account} can no longer pay ${price}.`
export const ordersPaidText = (account: string, price: string, credits: string) =>
  `Confirms that you received ${price}. ${account} gets ${credits} credits, once.`
export const ordersNoteText = (note: string) => ` Note on the order: ${note}.`
export const ordersEmpty = 'No matching orders. Account owners can place orders if CHECKOUT is enabled.'
export const ordersNewest = 'Newest'
export const ordersOlder = 'Older'

export const plansTitle = 'Plans'
export const plansColumnsPlan = 'Plan'
export const plansColumnsCredits = 'Credits'
export const plansColumnsPeriod = 'Billing period'
export const plansColumnsAccounts = 'Accounts'
export const plansColumnsInfo = 'Info requests per second'
export const plansColumnsRest = 'REST requests per second'
export const plansColumnsConnections = 'Stream connections'
export const plansColumnsSubscriptions = 'Stream subscriptions'
export const plansOnce = 'Once'
export const plansMonthly = 'Monthly'
export const plansUnlimited = 'No limit'
export const plansWholeNumber = 'A whole number'
export const plansPeriods = { '': 'Unchanged (new plans: monthly)', month: 'Monthly', once: 'Once' } as const
export const plansApply = 'Apply to accounts'
export const plansApplyLabel = (plan: string) => `Apply to accounts: ${plan}`
export const plansApplySubmit = 'Apply to its accounts'
export const plansApplyText =
  'Accounts on this plan get its limits immediately, and its credits from their next period.'
export const plansRemove = 'Remove'
export const plansRemoveLabel = (plan: string) => `Remove ${plan}`
export const plansRemoveSubmit = 'Remove this plan'
export const plansRemoveText = 'Accounts can no longer be moved to it. A plan that accounts use cannot be removed.'
export const plansEmpty = 'No plans.'
export const plansEdit = 'Create or edit a plan'
export const plansEditText =
  'Empty fields stay unchanged. New accounts get the changes immediately; existing accounts get them when you apply the plan.'
export const plansSave = 'Save plan'

export const auditTitle = 'Audit log'
export const auditText =
  'Every action by staff except reading, including failed attempts. Entries are written before the action and never change.'
export const auditActor = 'Actor'
export const auditRole = 'Role'
export const auditAction = 'Action'
export const auditActionFilter = 'Action, such as revokeKey'
export const auditTarget = 'Target'
export const auditResult = 'Result'
export const auditUnknown = 'Unknown'
export const auditInput = 'Input'
export const auditFrom = 'From (UTC)'
export const auditTo = 'To (UTC)'
export const auditEmpty = 'No matching entries.'

export const staffTitle = 'Staff'
export const staffText =
  'The holder of ADMIN_TOKEN is “operator” and may do everything. Everyone else has a personal token and a role.'
export const staffName = 'Name'
export const staffRole = 'Role'
export const staffRoles = {
  support: 'Support: read only',
  billing: 'Billing: read, top up, change account plans',
  owner: 'Owner: everything',
} as const
export const staffCreated = 'Token created'
export const staffActive = 'Active'
export const staffRevoked = (time: string) => `Revoked ${time}`
export const staffRevoke = 'Revoke'
export const staffRevokeLabel = (name: string) => `Revoke ${name}`
export const staffRevokeSubmit = 'Revoke this token'
export const staffRevokeText = (name: string) =>
  `${name} is signed out everywhere immediately. Their audit entries stay.`
export const staffCreate = 'Create token'
export const staffSecret = (name: string) => `The token of ${name}`
export const staffEmpty = 'No personal tokens yet. From a terminal:'

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
