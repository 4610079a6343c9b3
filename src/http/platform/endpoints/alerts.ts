// Alerts of an account: rules, the addresses that get e-mails, and what was sent. Invariants: only keys that manage the
// account see addresses; an address gets alerts only after its owner confirmed it.

import * as z from 'zod'
import type { Identity } from '../../../accounts/identity.ts'
import type { Failure } from '../../../core/failure.ts'
import { type AccountId, keyHashOf } from '../../../core/ids.ts'
import { err, ok, type Result } from '../../../core/result.ts'
import {
  ADDRESSES_MAX,
  AlertCondition,
  AlertConditionInput,
  countedKey,
  RULE_KEYS_MAX,
  RULES_MAX,
} from '../../../metering/alerts/alert-rule.ts'
import type {
  AddressRefusal,
  AlertRecord,
  RuleRefusal,
  StoredAddress,
  StoredRule,
} from '../../../metering/alerts/alerts-api.ts'
import { ALERT_TYPES } from '../../../metering/webhooks/webhook.ts'
import { mailAddress } from '../../mail/mail.ts'
import { MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import { NewLabel } from '../key-shapes.ts'
import type { Platform } from '../platform-api.ts'
import { badField, type Refusal, retryLater } from '../refusal.ts'

const PATH = '/platform/alerts/'
const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const RuleId = z
  .string()
  .regex(new RegExp(`^alr_${UUID}$`), 'must be the id of a rule, such as alr_…')
  .describe('Rule id')
const AddressId = z
  .string()
  .regex(new RegExp(`^adr_${UUID}$`), 'must be the id of an address, such as adr_…')
  .describe('Address id')
const RULE_PARAMS = { rule: RuleId }
const ADDRESS_PARAMS = { recipient: AddressId }

const Cooldown = z
  .int('must be a whole number of minutes')
  .min(5, 'must be at least 5')
  .max(43_200, 'must be at most 43,200')
const COOLDOWN_TEXT = 'Minutes after which an alert is repeated while its condition persists'

const RuleInput = z
  .strictObject({
    name: NewLabel.min(1, 'must not be empty').describe('Name of the rule, shown in alerts'),
    enabled: z.boolean().default(true).describe('Whether the rule can fire'),
    condition: AlertConditionInput.describe('When the alert fires'),
    webhook: z.boolean().default(false).describe('Whether the webhook of the account gets the alerts'),
    addresses: z
      .array(AddressId)
      .max(ADDRESSES_MAX, `must have at most ${ADDRESSES_MAX} addresses`)
      .refine((ids) => new Set(ids).size === ids.length, 'must not repeat an address')
      .default([])
      .describe('Ids of addresses that get the alerts by e-mail'),
    cooldown_minutes: Cooldown.default(1_440).describe(`${COOLDOWN_TEXT}; default 1,440`),
  })
  .refine(({ webhook, addresses }) => webhook || addresses.length > 0, {
    path: ['addresses'],
    message: 'must name an address, unless "webhook" is true',
  })

const Rule = z
  .object({
    id: RuleId,
    name: z.string().describe('Name of the rule'),
    enabled: z.boolean().describe('Whether the rule can fire'),
    condition: AlertCondition.describe('When the alert fires'),
    webhook: z.boolean().describe('Whether the webhook of the account gets the alerts'),
    addresses: z.array(AddressId).describe('Ids of addresses that get the alerts by e-mail'),
    cooldown_minutes: z.int().describe(COOLDOWN_TEXT),
    firing: z.boolean().describe('Whether the condition is met and not resolved'),
    fired: UnixMs.nullable().describe('Time of the last alert, Unix milliseconds; null: none'),
  })
  .meta({ id: 'AlertRule' })

const Address = z
  .object({
    id: AddressId,
    email: z
      .string()
      .nullable()
      .describe('Address; null: it cannot be decrypted, because the operator changed the secret'),
    state: z
      .enum(['pending', 'confirmed', 'unsubscribed'])
      .describe('`pending`: not confirmed yet; only confirmed addresses get alerts'),
    requested: UnixMs.describe('Time of the last confirmation e-mail, Unix milliseconds'),
  })
  .meta({ id: 'AlertAddress' })

const Alert = z
  .object({
    id: z.string().describe('Event id (`webhook-id`)'),
    rule: z.string().describe('Rule id'),
    name: z.string().describe('Name that the rule had'),
    type: z.enum(ALERT_TYPES).describe('Event type'),
    message: z.string().describe('Measured values, as a sentence'),
    created: UnixMs.describe('Time of the event, Unix milliseconds'),
    deliveries: z
      .array(
        z.object({
          channel: z.enum(['webhook', 'email']).describe('Channel'),
          address: AddressId.nullable().describe('Id of the address; null: the webhook'),
          state: z
            .enum(['due', 'delivered', 'given_up'])
            .describe('`due`: to be sent or retried; `given_up`: not accepted for one day, or not sent'),
          attempts: z.int().describe('Number of attempts'),
          last: z.string().nullable().describe('Result of the last attempt; null: none'),
        }),
      )
      .describe('Deliveries of the event'),
  })
  .meta({ id: 'Alert' })

const ID_EXAMPLE = '5a1f7a6e-7c0e-4d3b-9a3e-111111111111'
const RULE_EXAMPLE = {
  name: 'Errors of the bot',
  condition: { type: 'errors', statuses: 'any', percent: 5, calls: 100, minutes: 15 },
  addresses: [`adr_${ID_EXAMPLE}`],
  cooldown_minutes: 60,
}
const RULE_DIFFERS = {
  ...RULE_EXAMPLE,
  id: `alr_${ID_EXAMPLE}`,
  condition: { ...RULE_EXAMPLE.condition, key: null },
  enabled: true,
  webhook: false,
  firing: false,
  fired: null,
}
const ADDRESS_DIFFERS = {
  id: `adr_${ID_EXAMPLE}`,
  email: 'ops@example.com',
  state: 'confirmed',
  requested: 1790000000000,
}
const ALERT_DIFFERS = {
  id: `evt_${ID_EXAMPLE}`,
  rule: RULE_DIFFERS.id,
  name: RULE_EXAMPLE.name,
  type: 'alert.fired',
  message: '12 of 150 calls in 15 minutes had status 4xx or 5xx (8.0%).',
  deliveries: [
    {
      channel: 'email',
      address: ADDRESS_DIFFERS.id,
      state: 'delivered',
      attempts: 1,
      last: 'accepted by the mail server',
    },
  ],
}

const ruleView = ({ cooldownMinutes, isFiring, firedMs, ...rule }: StoredRule) => ({
  ...rule,
  cooldown_minutes: cooldownMinutes,
  firing: isFiring,
  fired: firedMs,
})

const alertView = ({ createdMs, deliveries, ...alert }: AlertRecord) => ({
  ...alert,
  created: createdMs,
  deliveries: deliveries.map(({ to, ...delivery }) => {
    return { channel: to === null ? ('webhook' as const) : ('email' as const), address: to, ...delivery }
  }),
})

async function addressView(
  account: AccountId,
  { id, sealed, state, requestedMs }: StoredAddress,
  { alertMails }: Platform,
) {
  return { id, email: await alertMails.open(account, id, sealed), state, requested: requestedMs }
}

const NO_RULE: Failure = { kind: 'not_found', what: 'This alert rule' }
const NO_ADDRESS: Failure = { kind: 'not_found', what: 'This address' }
const NO_MAIL: Failure = {
  kind: 'unavailable',
  what: 'E-mail',
  hint: 'This gateway sends no e-mails. Use the webhook.',
}
const MAIL_LOST: Failure = {
  kind: 'unavailable',
  what: 'E-mail',
  hint: 'The mail server did not accept the confirmation. Send it again in an hour.',
  retryAfterMs: 3_600_000,
}
const conflict = (message: string): Refusal => ({ kind: 'conflict', message })

const RULE_REFUSALS: Readonly<Record<RuleRefusal, Refusal>> = {
  unknown: NO_RULE,
  too_many: conflict(`This account already has ${RULES_MAX} alert rules. Delete one first.`),
  too_many_keys: badField(
    'condition.key',
    `is one more than the ${RULE_KEYS_MAX} keys that all rules may name together`,
  ),
  unknown_address: badField('addresses', 'must be ids of addresses of this account'),
  no_webhook: badField('webhook', 'needs a webhook. Set one with PUT /platform/webhook/'),
}
const ADDRESS_REFUSALS: Readonly<Record<AddressRefusal, Refusal>> = {
  unknown: NO_ADDRESS,
  exists: conflict('This account already has this address.'),
  confirmed: conflict('This address is already confirmed.'),
  unsubscribed: conflict('This address has unsubscribed from the alerts of this account. Use a different address.'),
  too_many: conflict(`This account already has ${ADDRESSES_MAX} addresses. Delete one first.`),
  too_soon: retryLater(3_600_000, 'an address gets at most one confirmation e-mail per hour'),
  mail_limit: retryLater(3_600_000, 'an account sends at most 20 e-mails per hour and 100 per day'),
}

type Caller = Pick<Identity, 'account' | 'keyHash'>

/** Meter of a caller that may manage its account. */
async function managed(
  { account, keyHash }: Caller,
  { keys, meterOf }: Platform,
): Promise<Result<ReturnType<Platform['meterOf']>, Refusal>> {
  const caller = await managingKey(keys, keyHash)
  return caller.ok ? ok(meterOf(account)) : caller
}

const ownAlerts = defineEndpoint({
  id: 'ownAlerts',
  route: `GET ${PATH}`,
  summary: 'Show alert rules, addresses and the last 100 alerts',
  description: MANAGE_ACCESS_TEXT,
  auth: 'service',
  responses: okResponse(
    'Rules, addresses and alerts',
    z.object({
      rules: z.array(Rule).describe('Rules, oldest first'),
      addresses: z.array(Address).describe('Addresses, oldest first'),
      has_webhook: z.boolean().describe('Whether the account has a webhook'),
      sends_email: z.boolean().describe('Whether this gateway sends e-mails'),
      history: z.array(Alert).describe('Alerts, newest first, at most 100'),
    }),
    {
      rules: [RULE_DIFFERS],
      addresses: [ADDRESS_DIFFERS],
      has_webhook: true,
      sends_email: true,
      history: [ALERT_DIFFERS],
    },
  ),
  handle: async ({ identity }, platform) => {
    const meter = await managed(identity, platform)
    if (!meter.ok) return meter
    const { rules, addresses, hasWebhook, history } = await meter.value.alerts()
    return reply(200, {
      rules: rules.map(ruleView),
      addresses: await Promise.all(addresses.map((each) => addressView(identity.account, each, platform))),
      has_webhook: hasWebhook,
      sends_email: platform.alertMails.isOn,
      history: history.map(alertView),
    })
  },
})

const RULE_TEXT = `${MANAGE_ACCESS_TEXT} An alert fires when its condition becomes true. It fires again after it was resolved, or after the cooldown. It is resolved once, when the condition is false by a margin.`

async function putRule(
  call: { readonly identity: Caller; readonly body: z.infer<typeof RuleInput> },
  id: string | null,
  platform: Platform,
): Promise<Result<ReturnType<typeof ruleView>, Refusal>> {
  const { account } = call.identity
  const meter = await managed(call.identity, platform)
  if (!meter.ok) return meter
  const { cooldown_minutes: cooldownMinutes, ...rule } = call.body
  const key = countedKey(rule.condition)
  if (key && (await platform.keys.findByHash(keyHashOf(key)))?.account !== account)
    return err(badField('condition.key', 'must be the hash of a key of this account'))
  const stored = await meter.value.putAlertRule(account, id, { ...rule, cooldownMinutes })
  return typeof stored === 'string' ? err(RULE_REFUSALS[stored]) : ok(ruleView(stored))
}

const createAlertRule = defineEndpoint({
  id: 'createAlertRule',
  route: `POST ${PATH}rules/`,
  summary: 'Create an alert rule',
  description: RULE_TEXT,
  auth: 'service',
  body: { schema: RuleInput, optional: false, example: RULE_EXAMPLE },
  responses: createdResponse('The rule', Rule, RULE_DIFFERS),
  refusals: [409],
  handle: async (call, platform) => {
    const stored = await putRule(call, null, platform)
    return stored.ok ? reply(201, stored.value) : stored
  },
})

const setAlertRule = defineEndpoint({
  id: 'setAlertRule',
  route: `PUT ${PATH}rules/{rule}`,
  summary: 'Replace an alert rule',
  description: `${MANAGE_ACCESS_TEXT} A new condition starts as not met.`,
  auth: 'service',
  params: RULE_PARAMS,
  body: { schema: RuleInput, optional: false, example: RULE_EXAMPLE },
  responses: okResponse('The rule', Rule, RULE_DIFFERS),
  refusals: [404],
  handle: async (call, platform) => {
    const stored = await putRule(call, call.params.rule, platform)
    return stored.ok ? reply(200, stored.value) : stored
  },
})

const Removed = z.object({
  id: z.string().describe('Id'),
  removed: z.literal(true).describe('Whether it was removed; always true'),
})

const removeAlertRule = defineEndpoint({
  id: 'removeAlertRule',
  route: `DELETE ${PATH}rules/{rule}`,
  summary: 'Delete an alert rule',
  description: MANAGE_ACCESS_TEXT,
  auth: 'service',
  params: RULE_PARAMS,
  responses: okResponse('The rule is deleted', Removed, { id: RULE_DIFFERS.id }),
  refusals: [404],
  handle: async ({ params: { rule: id }, identity }, platform) => {
    const meter = await managed(identity, platform)
    if (!meter.ok) return meter
    return (await meter.value.removeAlertRule(id)) ? reply(200, { id, removed: true }) : err(NO_RULE)
  },
})

const testAlertRule = defineEndpoint({
  id: 'testAlertRule',
  route: `POST ${PATH}rules/{rule}/test`,
  summary: 'Send a test to the channels of an alert rule',
  description: `${MANAGE_ACCESS_TEXT} At most one test every 10 s.`,
  auth: 'service',
  params: RULE_PARAMS,
  responses: okResponse('The test, with the results of its first deliveries', Alert, {
    ...ALERT_DIFFERS,
    type: 'alert.test',
    message: 'This is a test. Nothing is wrong.',
  }),
  refusals: [404],
  handle: async ({ params: { rule: id }, identity }, platform) => {
    const meter = await managed(identity, platform)
    if (!meter.ok) return meter
    const tested = await meter.value.testAlertRule(id)
    if (tested === null) return err(NO_RULE)
    return typeof tested === 'number'
      ? err(retryLater(tested, 'at most one test every 10 s'))
      : reply(200, alertView(tested))
  },
})

const addAlertAddress = defineEndpoint({
  id: 'addAlertAddress',
  route: `POST ${PATH}addresses/`,
  summary: 'Add an address for alerts',
  description: `${MANAGE_ACCESS_TEXT} The address gets an e-mail with a link, and alerts only after it was confirmed there. The link expires in seven days. An address gets at most one link per hour (429), and none after it unsubscribed (409).`,
  auth: 'service',
  body: {
    schema: z.strictObject({ email: z.string('must be an e-mail address').max(300).describe('E-mail address') }),
    optional: false,
    example: { email: 'ops@example.com' },
  },
  responses: createdResponse('The address', Address, { ...ADDRESS_DIFFERS, state: 'pending' }),
  refusals: [409],
  handle: async ({ body, identity }, platform) => {
    const { account } = identity
    const { alertMails, now } = platform
    const meter = await managed(identity, platform)
    if (!meter.ok) return meter
    const read = mailAddress(body.email, [])
    if (!read.ok) return err(badField('email', read.error))
    if (!alertMails.isOn) return err(NO_MAIL)
    const { address, base } = read.value
    const { stored, token } = await alertMails.newAddress(account, address, base)
    const refused = await meter.value.addAlertAddress(stored)
    if (refused !== null) return err(ADDRESS_REFUSALS[refused])
    if (!(await alertMails.confirm(account, stored.id, address, token))) return err(MAIL_LOST)
    return reply(201, { id: stored.id, email: address, state: 'pending', requested: now() })
  },
})

const confirmAlertAddress = defineEndpoint({
  id: 'sendAlertConfirmation',
  route: `POST ${PATH}addresses/{recipient}/confirmation`,
  summary: 'Send a new confirmation link to an address',
  description: `${MANAGE_ACCESS_TEXT} Earlier links stop working. At most one link per hour (429), and none after the address unsubscribed (409).`,
  auth: 'service',
  params: ADDRESS_PARAMS,
  responses: okResponse('The address', Address, { ...ADDRESS_DIFFERS, state: 'pending' }),
  refusals: [404, 409],
  handle: async ({ params: { recipient: id }, identity: { account, keyHash } }, platform) => {
    const { alertMails, now } = platform
    const meter = await managed({ account, keyHash }, platform)
    if (!meter.ok) return meter
    if (!alertMails.isOn) return err(NO_MAIL)
    const { token, hash } = await alertMails.newToken(account, id)
    const renewed = await meter.value.renewAlertAddress(id, hash)
    if (typeof renewed === 'string') return err(ADDRESS_REFUSALS[renewed])
    const email = await alertMails.open(account, id, renewed.sealed)
    if (email === null || !(await alertMails.confirm(account, id, email, token))) return err(MAIL_LOST)
    return reply(200, { id, email, state: 'pending', requested: now() })
  },
})

const removeAlertAddress = defineEndpoint({
  id: 'removeAlertAddress',
  route: `DELETE ${PATH}addresses/{recipient}`,
  summary: 'Delete an address, also from all rules',
  description: MANAGE_ACCESS_TEXT,
  auth: 'service',
  params: ADDRESS_PARAMS,
  responses: okResponse('The address is deleted', Removed, { id: ADDRESS_DIFFERS.id }),
  refusals: [404],
  handle: async ({ params: { recipient: id }, identity }, platform) => {
    const meter = await managed(identity, platform)
    if (!meter.ok) return meter
    return (await meter.value.removeAlertAddress(id)) ? reply(200, { id, removed: true }) : err(NO_ADDRESS)
  },
})

export const ALERTS = [
  ownAlerts,
  createAlertRule,
  setAlertRule,
  removeAlertRule,
  testAlertRule,
  addAlertAddress,
  confirmAlertAddress,
  removeAlertAddress,
]
