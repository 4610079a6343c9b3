// Text of the billing of an account.

export const BILLING = {
  title: 'Billing',
  none: 'No billing details. The owner can add them under Billing.',
  autoOff: 'Auto top-up is off.',
  autoStopped: 'Auto top-up stopped.',
  autoOn: (below: string, credits: string, amount: string, limit: string) =>
    `Auto top-up buys ${credits} credits for ${amount} when the balance is below ${below}, for at most ${limit} per month.`,
  charged: (amount: string) => ` ${amount} charged this month.`,
  turnOff: 'Turn off auto top-up',
  turnOffText: 'No new charge starts. The owner can turn it on again.',
  done: 'Auto top-up is turned off.',
} as const
