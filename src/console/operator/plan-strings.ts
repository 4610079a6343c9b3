// Text of the plans page and its dialog.

export const plansTitle = 'Plans'
export const plansColumnsPlan = 'Plan'
export const plansColumnsCredits = 'Credits'
export const plansColumnsPeriod = 'Billing period'
export const plansColumnsAccounts = 'Accounts'
export const plansColumnsLimits = 'Limits'
/** All in one cell. Each gets a number, or the words for no limit. */
export const plansLimitTexts = {
  rest_requests_per_second: (limit: string) => `REST/s: ${limit}`,
  info_requests_per_second: (limit: string) => `Info/s: ${limit}`,
  stream_connections: (limit: string) => `Connections: ${limit}`,
  stream_subscriptions: (limit: string) => `Subscriptions: ${limit}`,
  stream_messages_per_minute: (limit: string) => `Messages/min: ${limit}`,
} as const
/** By field of the API. */
export const plansFields = {
  credits: 'Credits',
  period: 'Billing period',
  days: 'Days until credits expire',
  rest_requests_per_second: 'REST requests per second',
  info_requests_per_second: 'Info requests per second',
  stream_connections: 'Stream connections',
  stream_subscriptions: 'Stream subscriptions',
  stream_messages_per_minute: 'Stream messages per minute',
  custom: 'Accounts can have their own terms',
} as const
export const plansOnce = 'Once'
export const plansOnceDays = (days: number) => `Once, ${days} days`
export const plansMonthly = 'Monthly'
export const plansUnlimited = 'No limit'
export const plansNoEnd = 'Never expire'
export const plansYes = 'Yes'
export const plansNo = 'No'
export const plansUnset = '–'
export const plansWholeNumber = 'A whole number'
export const plansDefault = 'empty: default'
export const plansPeriods = { month: 'Monthly', once: 'Once' } as const
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
export const plansNew = 'New plan'
export const plansEdit = 'Edit'
export const plansEditLabel = (plan: string) => `Edit ${plan}`
export const plansEditTitle = (plan: string) => `Edit plan ${plan}`
export const plansSave = 'Save plan'
export const plansDifferences = 'Changes'
export const plansNoDifference = 'Nothing has changed yet.'
export const plansDifferenceField = 'Field'
export const plansDifferenceBefore = 'Now'
export const plansDifferenceAfter = 'New'
const accountsText = (accounts: number) => (accounts === 1 ? '1 account' : `${accounts.toLocaleString('en')} accounts`)
export const plansTouches = (accounts: number) =>
  `New accounts get the changes at once. ${accountsText(accounts)} on this plan ${accounts === 1 ? 'gets' : 'get'} them when you apply the plan: limits immediately, credits from the next period.`
export const plansApplyNow = (accounts: number) => `Apply to ${accountsText(accounts)} now`
export const plansSaved = (plan: string) => `Plan ${plan} saved.`
export const plansSavedAndApplied = (plan: string, accounts: number) =>
  `Plan ${plan} saved and applied to ${accountsText(accounts)}.`
export const plansApplied = (plan: string, accounts: number) => `Plan ${plan} applied to ${accountsText(accounts)}.`
export const plansRemoved = (plan: string) => `Plan ${plan} removed.`
