// Text of the alerts page.

const RECOVER = '/docs/operators/guides/recover'

/** By name of the alert. `page`: what to do. */
export const ALERT_WORDS = {
  feed_not_live: {
    name: 'Feed not live',
    condition: 'The feed is not live, or the log does not answer.',
    page: `${RECOVER}#state-is-not-live`,
  },
  archive_late: {
    name: 'Archive late',
    condition: 'The archive is too far behind, or has not reported for ten minutes.',
    page: `${RECOVER}#the-archive-falls-behind`,
  },
  write_offs_high: {
    name: 'Too many write-offs',
    condition: 'Too large a share of the credits of the last hour was written off.',
    page: `${RECOVER}#credits-were-written-off`,
  },
  usage_copies_late: {
    name: 'Usage copies late',
    condition: 'Copies of the usage of an account to D1 keep failing.',
    page: `${RECOVER}#d1-or-kv-is-unavailable`,
  },
} as const

export const alertsText = 'Checked once a minute. An alert begins after two bad checks and ends after three good ones.'
export const alertsReceiver = (host: string) => `Messages go to ${host}.`
export const alertsNoReceiver =
  'No receiver is set, so nobody is notified. Set ALERT_URL to send alerts to your pager or chat. '
export const alertsNoSecret = 'Nothing is sent, because the secret ALERT_SECRET is missing. '
export const alertsGuide = 'How to get alerts'
export const alertsGuidePage = '/docs/operators/guides/monitor#get-alerts-without-prometheus'
export const alertsRules = 'Alerts and their state'
export const alertsAlert = 'Alert'
export const alertsState = 'State'
export const alertsActive = 'Active since '
export const alertsPending = 'Fault, not active yet'
export const alertsFine = 'OK'
export const alertsValue = 'Value now'
export const alertsThreshold = 'Threshold'
export const alertsRunbook = 'Runbook'
export const alertsRunbookOf = (name: string) => `Runbook: ${name}`
export const alertsUpdated = 'Updated'
export const alertsTest = 'Send a test alert'
export const alertsTestDelivered = (answer: string) => `Test alert delivered. The receiver answered ${answer}.`
export const alertsTestFailed = (answer: string) =>
  `Test alert not delivered: ${answer}. Check ALERT_URL and the receiver.`
export const alertsHistory = 'History'
export const alertsHistoryText = 'The last 200 events.'
export const alertsNoHistory = 'No alerts so far.'
export const alertsTime = 'Time'
export const alertsEvent = 'Event'
export const alertsEvents = { 'alert.started': 'Began', 'alert.ended': 'Ended', 'alert.test': 'Test' } as const
export const alertsTestName = 'Test'
export const alertsMessage = 'Message'
export const alertsLasted = (duration: string) => `Lasted ${duration}.`
export const alertsDelivery = 'Delivery'
export const alertsDeliveries = {
  none: 'No receiver',
  due: 'Retrying',
  delivered: 'Delivered',
  given_up: 'Not delivered',
} as const
export const alertsAttempts = (text: string, attempts: number, answer: string) =>
  `${text} (${attempts === 1 ? '1 attempt' : `${attempts} attempts`}, ${answer})`
export const alertsPercent = (value: string) => `${value} %`
