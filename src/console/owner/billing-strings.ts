// Text of orders, payments and monthly statements.

export const paymentsNetworks = {
  'eip155:1': 'Ethereum',
  'eip155:8453': 'Base',
  'eip155:84532': 'Base Sepolia',
  'eip155:137': 'Polygon',
  'eip155:43114': 'Avalanche',
} as const

export const usedThisMonth = 'Credits used this month (UTC)'
export const planUntil = {
  renewed: (date: string) => `renews on ${date}`,
  ends: (date: string) => `ends on ${date}`,
} as const

export const topUpTitle = 'Top up'
export const topUpStripe = 'Pay with Stripe. Credits arrive as soon as Stripe confirms the payment and do not expire.'
export const topUpManual = 'You get payment instructions. Credits arrive when the order is paid, and do not expire.'
export const topUpPackage = (credits: string, price: string) => `${credits} credits for ${price}`
export const topUpUnitPrice = (price: string) => `${price} per 10,000`
export const topUpBest = ' · best value'
export const topUpLots = (credits: string, price: string, max: string) =>
  `Custom amount in credits (${price} per ${credits}, up to ${max})`
export const topUpOrder = 'Order'
export const topUpDialog = 'Order credits'
export const topUpSubmit = { stripe: 'Continue to payment', manual: 'Place order' } as const
export const topUpPackageSummary = (credits: string, price: string) => `${credits} credits for ${price}.`
export const topUpPay = 'Pay'
export const topUpPayWith = (price: string, number: string) => `Pay ${price} with reference ${number}.`
export const topUpCopyReference = 'Copy reference'
export const topUpCopyAmount = 'Copy amount'
export const topUpNoOrder =
  'This order is not among the latest 100 of the account. Its invoice is in the list of orders.'
export const ORDER_STEPS = { placed: 'Placed', paid: 'Paid', added: 'Credits added' } as const
export const topUpOrderLabel = (number: string) => `Order ${number}`
export const topUpSumsAccount = 'Account'
export const topUpSumsCreated = 'Ordered (UTC)'
export const topUpSumsCredits = 'Credits'
export const topUpSumsAmount = 'Amount'
export const topUpSumsState = 'State'
export const topUpSumsNetwork = 'Network'
export const topUpSumsTransaction = 'Transaction'
export const topUpContact = 'Contact the operator of this gateway for payment details.'
export const topUpPrint = 'Print or save as PDF'

export const statementsTitle = 'Monthly statements'
export const statementsTable = 'Monthly statements'
export const statementsMonth = 'Month (UTC)'
export const statementsSoFar = 'so far'
export const statementsEmpty = 'No credits granted or charged yet.'
export const statementsLabel = (month: string) => `Statement ${month}`
export const statementsTitleOf = (month: string) => `Statement, ${month}`
export const statementsHeading = (account: string, from: string, to: string) => `${account}: ${from} to ${to} UTC`
export const statementsHeadingSoFar = ', so far'
export const statementsActivity = 'Activity'
export const statementsSumsOpening = 'Opening balance'
export const statementsSumsExpired = 'Expired'
export const statementsSumsCharged = 'Charged'
export const statementsSumsClosing = 'Closing balance'
export const statementsGrant = (time: string) => `Grant, ${time}`
export const statementsPlan = (plan: string, time: string) => `Plan ${plan}, ${time}`
export const statementsLines = (month: string) => `Statement lines of ${month}`
export const statementsColumnsProduct = 'Product'
export const statementsColumnsType = 'Endpoint'
export const statementsColumnsKey = 'Key'
export const statementsColumnsLabel = 'Label'
export const statementsColumnsCount = 'Count'
export const statementsColumnsCredits = 'Credits'
export const statementsNoLines = 'No usage.'
export const statementsWrittenOff = (charged: string, lost: string) =>
  `The lines add up to ${charged} credits charged and ${lost} written off. Written-off usage was served after the balance reached zero.`
export const statementsCsv = 'Export CSV'
