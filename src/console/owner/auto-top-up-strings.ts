// Text of auto top-up.

import { labelOf } from '../ui/strings.ts'

const REASONS = {
  declined: 'the card was declined',
  authentication_required: 'the bank asks for your approval, which an automatic charge cannot give',
  card_removed: 'the card was removed',
  price_changed: 'the price changed',
} as const

const CHANGES = {
  on: 'Turned on or changed',
  off: 'Turned off',
  card_saved: 'Card saved',
  card_removed: 'Card removed',
  stopped: 'Stopped',
} as const

export const AUTO = {
  title: 'Auto top-up',
  manual: 'You pay the orders of this gateway yourself, so it cannot charge you automatically. ',
  manualWebhook: 'Add a low-balance webhook',
  manualRest: ' to order in time.',
  intro: 'Save a card, and credits are bought when your balance is low, up to a limit per month that you set.',
  addCard: 'Add a card',
  card: (brand: string, last4: string, expires: string) => `${labelOf(brand)} ending in ${last4}, expires ${expires}`,
  replaceCard: 'Replace card',
  removeCard: 'Remove card',
  removeText: 'Auto top-up is turned off, and the card can no longer be charged.',
  setUp: 'Set up auto top-up',
  turnOn: 'Turn on again',
  change: 'Change',
  turnOff: 'Turn off',
  turnOffText: 'No new charge starts. An order in progress may still be charged. The card stays saved.',
  off: 'Off.',
  on: (below: string, credits: string, amount: string) =>
    `On. When the balance falls below ${below} credits, ${credits} credits are bought for ${amount}.`,
  charged: (amount: string, limit: string) => `${amount} of at most ${limit} charged this month (UTC).`,
  full: 'The next charge would exceed the monthly limit. Charges continue next month.',
  order: (number: string) => `Order ${number} is being charged.`,
  stopped: (time: string, reason: keyof typeof REASONS) => `Auto top-up stopped on ${time} UTC: ${REASONS[reason]}.`,
  whatToDo: {
    declined: ' Replace the card, then turn auto top-up on again.',
    authentication_required: ' Replace the card, then turn auto top-up on again.',
    card_removed: ' Add a card, and turn auto top-up on again.',
    price_changed: ' Check the price, and turn auto top-up on again.',
  },
  notBefore: (time: string) => `This card is not charged again before ${time} UTC.`,
  form: {
    below: 'When the balance is below (credits)',
    buy: 'Buy',
    custom: 'Custom amount',
    credits: 'Credits to buy',
    creditsHint: (lot: string) => `a multiple of ${lot}`,
    limit: (currency: string) => `Charge at most per month (${currency})`,
    limitHint: 'calendar month, UTC',
    consent:
      'By turning this on, you allow the operator of this gateway to charge the saved card for these orders until you turn it off.',
    submit: 'Turn on',
    save: 'Save changes',
  },
  history: 'Changes of auto top-up',
  empty: 'No changes yet.',
  time: 'Time (UTC)',
  what: 'Change',
  by: 'By',
  changes: CHANGES,
} as const
