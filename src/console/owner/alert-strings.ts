// Text of the page with alerts.

export const needsService =
  'Alerts are managed with a service key. Sign in with one to see or change the alerts of this account.'
export const columnsActions = 'Actions'
export const guide = 'How alerts work'

export const rulesTitle = 'Rules'
export const rulesTable = 'Alert rules'
export const rulesEmpty = 'Get notified before credits run out, or when calls fail.'
export const rulesNoChannel = 'Alerts need a channel first: add an e-mail address or a webhook.'
export const rulesNoChannelLeft = 'Nobody. Choose a channel.'
export const rulesNew = 'New rule'
export const rulesEdit = 'Edit'
export const rulesTest = 'Send a test'
export const rulesDelete = 'Delete'
export const rulesDeleteName = 'rule'
export const rulesDeleteText = (name: string) => `The rule “${name}” sends no more alerts. Its past alerts stay listed.`
export const rulesActionOf = (action: string, name: string) => `${action}: ${name}`
export const rulesColumns = {
  name: 'Rule',
  condition: 'Condition',
  channels: 'Channels',
  state: 'State',
  fired: 'Last alert',
} as const
export const rulesNever = 'Never'
export const STATES = { off: 'Off', firing: 'Firing', ok: 'OK' } as const
export const testSent = (results: string) => `Test sent. ${results}`

export const formNew = 'New alert rule'
export const formEdit = (name: string) => `Edit ${name}`
export const formCreate = 'Create rule'
export const formSave = 'Save'
export const formName = 'Name'
export const formNameHint = 'Shown in alerts'
export const formType = 'Alert when'
export const formEnabled = 'Enabled'
export const formChannels = 'Send to'
export const formWebhook = 'Webhook'
export const formPending = ' (not confirmed yet)'
export const formNoWebhook = ' (not set)'
export const formCooldown = 'Repeat while it lasts'
export const TYPES: Readonly<Record<string, string>> = {
  credits_below: 'credits are low',
  credits_end: 'credits end soon',
  errors: 'calls fail',
  rate_limited: 'calls are rate limited',
  limit_use: 'a request limit is nearly used',
}
export const FIELD_LABELS = {
  threshold: 'Threshold',
  days: 'Days left',
  statuses: 'Errors',
  percent: 'More than %',
  calls: 'Calls at least',
  minutes: 'Within',
  key: 'Key',
} as const
export const thresholdHint = 'Credits, or % of the period’s largest balance'
export const STATUSES: Readonly<Record<string, string>> = { any: '4xx or 5xx', '4xx': '4xx', '5xx': '5xx' }
export const FAILS: Readonly<Record<string, string>> = {
  any: 'fail',
  '4xx': 'are rejected (4xx)',
  '5xx': 'fail with 5xx',
}
export const WINDOWS = { 5: '5 minutes', 15: '15 minutes', 60: '60 minutes' } as const
export const COOLDOWNS = {
  15: 'Every 15 minutes',
  60: 'Every hour',
  360: 'Every 6 hours',
  1440: 'Every day',
  10080: 'Every week',
} as const
export const cooldownMinutes = (minutes: number) => `Every ${minutes.toLocaleString('en')} minutes`
export const allKeys = 'All keys'

export const sentence = (channels: string, condition: string) => `Tell ${channels} when ${condition}.`
export const nobody = 'nobody'
export const and = ' and '
export const theWebhook = 'the webhook'
export const ofKey = (name: string) => ` with the key ${name}`
export const whenSpent = 'no credits are left'
export const whenBelow = (amount: string) => `at most ${amount} left`
export const percentLeft = (percent: string) => `${percent} of the period’s largest balance is`
export const creditsLeft = (credits: string) => `${credits} credits are`
export const whenEnds = (days: string) =>
  `credits will end within ${days} ${days === '1' ? 'day' : 'days'} at the current rate`
export const whenErrors = (percent: string, calls: string, ofKey: string, minutes: string, fail: string) =>
  `more than ${percent}% of at least ${calls} calls${ofKey} in ${minutes} minutes ${fail}`
export const whenLimited = (calls: string, ofKey: string, minutes: string) =>
  `at least ${calls} calls${ofKey} in ${minutes} minutes are rejected with 429`
export const whenUsed = (percent: string, ofKey: string, minutes: string) =>
  `requests${ofKey} use more than ${percent}% of their limit over ${minutes} minutes`

export const addressesTitle = 'E-mail addresses'
export const addressesText = 'An address gets alerts after its owner confirms it with the link in an e-mail.'
export const addressesTable = 'E-mail addresses of this account'
export const addressesOff = 'This gateway sends no e-mails. Use the webhook.'
export const addressesAdd = 'Add address'
export const addressesEmail = 'E-mail address'
export const addressesEmailHint = 'It gets a link to confirm'
export const addressesColumns = { email: 'Address', state: 'State', requested: 'Link sent' } as const
export const ADDRESS_STATES = {
  pending: 'Waiting for confirmation',
  confirmed: 'Confirmed',
  unsubscribed: 'Unsubscribed',
} as const
export const addressesLost = 'cannot be decrypted; add it again'
export const addressesResend = 'Send a new link'
export const addressesSent = (email: string) => `Sent a link to ${email}. It expires in 7 days.`
export const addressesDelete = 'Delete'
export const addressesDeleteName = 'address'
export const addressesDeleteText = (email: string) => `${email} gets no more alerts, and is removed from all rules.`

export const historyTitle = 'History'
export const historyTable = 'The last 100 alerts'
export const historyEmpty = 'No alerts yet. Send a test of a rule.'
export const historyColumns = {
  time: 'Time',
  rule: 'Rule',
  type: 'Alert',
  message: 'Message',
  deliveries: 'Deliveries',
} as const
export const HISTORY_TYPES = { 'alert.fired': 'Fired', 'alert.resolved': 'Resolved', 'alert.test': 'Test' } as const
export const DELIVERY_STATES = { due: 'waiting', delivered: 'delivered', given_up: 'not delivered' } as const
export const delivery = (to: string, state: string, last: string | null) =>
  `${to}: ${state}${last === null ? '' : ` (${last})`}`
export const webhook = 'Webhook'
export const removedAddress = 'a deleted address'
export const none = 'None'

export const webhookTitle = 'Webhook'
export const webhookFormTitle = 'Low-balance webhook'
export const webhookNone = 'Get signed events: alerts, low credits, and pipelines that were paused.'
export const webhookAdd = 'Add webhook'
export const webhookCurl = 'Add it by command'
export const webhookNotified = (thresholds: string) => ` gets low-credit events at ${thresholds}`
export const webhookNext = (thresholds: string) => `; the next one is at ${thresholds}`
export const webhookTest = 'Send test event'
export const webhookDelivered = (answer: string) => `Test event delivered: ${answer}.`
export const webhookNotDelivered = (answer: string) => `Test event not delivered: ${answer}.`
export const webhookEdit = 'Edit'
export const webhookRemove = 'Remove webhook'
export const webhookRemoveText = 'Undelivered events are dropped. A new webhook gets a new signing secret.'
export const webhookRemoveName = 'webhook'
export const webhookTable = 'The last 100 events'
export const webhookColumnsTime = 'Time'
export const webhookColumnsThreshold = 'Event'
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
