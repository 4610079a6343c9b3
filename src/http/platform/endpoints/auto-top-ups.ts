// Automatic top-ups of an account, for the owner and the operator. Invariant: only a key that manages the account can save a
// card or turn them on.

import * as z from 'zod'
import { type AutoTopUp, CardFace, CHANGES, chargeableMs } from '../../../billing/checkout/auto-top-up.ts'
import type { AutoTopUpApi, AutoTopUpView } from '../../../billing/checkout/checkout-api.ts'
import { moneyText } from '../../../billing/checkout/money.ts'
import { formatCredits } from '../../../core/amount.ts'
import type { Failure } from '../../../core/failure.ts'
import { AccountId } from '../../../core/ids.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import { TOP_UP_STOPS } from '../../../metering/top-up-watch.ts'
import { ACCOUNT, adminAndOwnEndpoints, authorOf, MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Credits, CreditsText, UnixMs } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import { AUTHOR_TEXT, AuthorName, type AuthorNames, authorNames } from './members.ts'
import { CurrencyCode, MoneyText, ONE_FIELD_TEXT, OrderNumber } from './orders.ts'

const View = z
  .object({
    account: AccountId,
    available: z.boolean().describe('Whether the payment provider can charge a saved card'),
    state: z
      .enum(['off', 'on', 'stopped'])
      .describe('`stopped`: a charge failed, the card was removed or the price changed; turn it on again'),
    settings: z
      .object({
        below: CreditsText.describe('A balance below this is topped up'),
        package: z.string().nullable().describe('Package that is bought; null: a custom amount'),
        credits: CreditsText.describe('Credits of one top-up'),
        amount: MoneyText.describe('Price of one top-up, which was agreed when it was turned on'),
        currency: CurrencyCode,
        monthly_limit: MoneyText.describe('Maximum of all charges in a calendar month (UTC)'),
      })
      .nullable()
      .describe('Last settings; null: never set'),
    charged_this_month: MoneyText.nullable().describe('Charged since the start of the month (UTC); null: never set'),
    card: CardFace.nullable().describe('Saved card; null: none'),
    order: OrderNumber.nullable().describe('Order in progress; null: none'),
    stopped: z
      .object({
        at: UnixMs.describe('Time, Unix milliseconds'),
        reason: z.enum(TOP_UP_STOPS).describe('Why it stopped'),
        order: OrderNumber.nullable().describe('Order whose charge failed; null: none'),
      })
      .nullable()
      .describe('Why it stopped; null: it did not'),
    not_before: UnixMs.nullable().describe(
      'The card is not charged before this time, because a charge failed, Unix milliseconds; null: no limit',
    ),
    changes: z
      .array(
        z.object({
          at: UnixMs.describe('Time of the change, Unix milliseconds'),
          by: AuthorName.describe(`${AUTHOR_TEXT}; null: the gateway or the operator`),
          what: z.enum(CHANGES).describe('What changed'),
        }),
      )
      .describe('Changes, newest first, at most 20'),
  })
  .meta({ id: 'AutoTopUp' })

const EXAMPLE = {
  available: true,
  state: 'on',
  settings: { below: '50000', package: 'small', credits: '100000', amount: '19.00', monthly_limit: '100.00' },
  charged_this_month: '38.00',
  card: { brand: 'visa', last4: '4242', expires: '2028-04' },
  order: null,
  stopped: null,
  not_before: null,
  changes: [{ by: 'kim@example.com', what: 'on' }],
}

function settingsView({ settings }: AutoTopUp) {
  if (settings === null) return null
  const { below, purchase, micro, minor, currency, monthly } = settings
  return {
    below: formatCredits(below),
    package: purchase.package ?? null,
    credits: formatCredits(micro),
    amount: moneyText(minor, currency),
    currency,
    monthly_limit: moneyText(monthly, currency),
  }
}

function viewOf(account: AccountId, view: AutoTopUpView | null, nameOf: AuthorNames, nowMs: number) {
  const { current = null, charged = 0, order = null, changes = [] } = view ?? {}
  const stop = current?.stop ?? null
  const notBefore = current === null ? 0 : chargeableMs(current)
  return {
    account,
    available: view !== null,
    state: current?.state ?? ('off' as const),
    settings: current && settingsView(current),
    charged_this_month: current?.settings ? moneyText(charged, current.settings.currency) : null,
    card: current?.card?.face ?? null,
    order,
    stopped: stop && { at: stop.atMs, reason: stop.reason, order: stop.order },
    not_before: notBefore > nowMs ? notBefore : null,
    changes: changes.map((change) => ({ at: change.at, by: nameOf(change), what: change.what })),
  }
}

async function shown(account: AccountId, { checkout: { autoTopUps }, members, now }: Platform) {
  const view = autoTopUps && (await autoTopUps.view(account))
  return reply(200, viewOf(account, view, await authorNames(members, account, view?.changes ?? []), now()))
}

const NOT_AVAILABLE: Failure = {
  kind: 'not_found',
  what: 'Auto top-up',
  hint: 'Auto top-up needs a gateway that sells credits with Stripe. Order credits with POST /platform/checkout.',
}

const cardsOf = ({ checkout: { autoTopUps } }: Pick<Platform, 'checkout'>): Result<AutoTopUpApi, Failure> =>
  autoTopUps === null ? err(NOT_AVAILABLE) : ok(autoTopUps)

const PATH = '/admin/accounts/{id}/auto-top-up'
const OWN_PATH = '/platform/auto-top-up/'
const response = okResponse('Auto top-up', View, EXAMPLE)

const show = adminAndOwnEndpoints(ACCOUNT, {
  responses: response,
  admin: { id: 'showAutoTopUp', route: `GET ${PATH}`, summary: 'Show the auto top-up of an account' },
  own: { id: 'ownAutoTopUp', route: `GET ${OWN_PATH}`, summary: 'Show auto top-up' },
  handle: ({ account }, platform) => shown(account, platform),
})

const Settings = z
  .strictObject({
    below: Credits.describe('A balance below this is topped up'),
    package: z.string().max(64).optional().describe('Name of a package of `GET /platform/checkout`'),
    credits: Credits.optional().describe('Custom amount, a multiple of one lot'),
    monthly_limit: z.string().max(20).describe('Maximum of all charges in a calendar month (UTC), such as `100.00`'),
  })
  .refine((input) => (input.package === undefined) !== (input.credits === undefined), ONE_FIELD_TEXT)

const turnOn = defineEndpoint({
  id: 'turnOnAutoTopUp',
  route: `PUT ${OWN_PATH}`,
  summary: 'Turn on auto top-up, or change its settings',
  description: `${MANAGE_ACCESS_TEXT} When the balance is below \`below\`, the saved card is charged for the package or amount at today’s price. One charge is in progress at a time. A failed charge stops it, and the card is not charged for a day. Needs a saved card (409). The settings can change 20 times per day (429).`,
  auth: 'service',
  body: { schema: Settings, optional: false, example: { below: '50000', package: 'small', monthly_limit: '100.00' } },
  responses: response,
  refusals: [404, 409],
  handle: async ({ identity, body }, platform) => {
    const { account, keyHash } = identity
    const caller = await managingKey(platform.keys, keyHash)
    if (!caller.ok) return caller
    const cards = cardsOf(platform)
    if (!cards.ok) return cards
    const { monthly_limit: monthly, ...input } = body
    const on = await cards.value.turnOn(account, { ...input, monthly }, authorOf(identity, caller.value))
    return on.ok ? shown(account, platform) : on
  },
})

const turnOff = adminAndOwnEndpoints(ACCOUNT, {
  responses: response,
  admin: {
    id: 'turnOffAutoTopUp',
    route: `DELETE ${PATH}`,
    summary: 'Turn off the auto top-up of an account',
    role: 'billing',
    refusals: [404],
  },
  own: {
    id: 'turnOffOwnAutoTopUp',
    route: `DELETE ${OWN_PATH}`,
    summary: 'Turn off auto top-up',
    description: 'No new charge starts after the response. The card stays saved.',
    refusals: [404],
  },
  handle: async ({ account, author }, platform) => {
    const cards = cardsOf(platform)
    if (!cards.ok) return cards
    await cards.value.turnOff(account, author)
    return shown(account, platform)
  },
})

const saveCard = defineEndpoint({
  id: 'saveCard',
  route: `POST ${OWN_PATH}card`,
  summary: 'Open a page to save a card',
  description: `${MANAGE_ACCESS_TEXT} Open \`url\` in a browser. The page belongs to the payment provider; the gateway never sees the card number. A new card replaces the saved one.`,
  auth: 'service',
  responses: okResponse('The page', z.object({ url: z.string().describe('Address of the page') }), {
    url: 'https://checkout.stripe.com/c/pay/cs_test_1',
  }),
  refusals: [404],
  handle: async ({ identity: { account, keyHash } }, platform) => {
    const caller = await managingKey(platform.keys, keyHash)
    if (!caller.ok) return caller
    const cards = cardsOf(platform)
    if (!cards.ok) return cards
    const page = await cards.value.openSetup(account)
    return page.ok ? reply(200, { url: page.value }) : page
  },
})

const removeCard = adminAndOwnEndpoints(ACCOUNT, {
  responses: response,
  admin: {
    id: 'removeCard',
    route: `DELETE ${PATH}/card`,
    summary: 'Remove the saved card of an account',
    description:
      'Turns off auto top-up, and detaches the card at the payment provider, so that it can no longer be charged.',
    role: 'billing',
    refusals: [404],
  },
  own: {
    id: 'removeOwnCard',
    route: `DELETE ${OWN_PATH}card`,
    summary: 'Remove the saved card',
    description:
      'Turns off auto top-up, and detaches the card at the payment provider, so that it can no longer be charged.',
    refusals: [404],
  },
  handle: async ({ account, author }, platform) => {
    const cards = cardsOf(platform)
    if (!cards.ok) return cards
    const removed = await cards.value.removeCard(account, author)
    return removed.ok ? shown(account, platform) : removed
  },
})

export const AUTO_TOP_UPS = [...show, turnOn, ...turnOff, saveCard, ...removeCard]
