// Keys, for the operator and for the owner of their account. Invariants: a key is in one answer only, the one that made it;
// a retry makes one key; whoever has a service key can end it, whatever restricts it.

import * as z from 'zod'
import { KEYS_MAX, type KeyRow, ROTATED_MAX, rootOf } from '../../../accounts/key-row.ts'
import { formatCredits } from '../../../core/amount.ts'
import { AccountId } from '../../../core/ids.ts'
import { err } from '../../../core/result.ts'
import { wholeNumber } from '../../../core/whole-number.ts'
import { recipientOf } from '../../../pipelines/secrets.ts'
import {
  adminAndOwnEndpoints,
  KEY,
  MANAGE_ACCESS_TEXT,
  managementRefusal,
  managingKey,
  READ_ACCESS_TEXT,
} from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Credits, CreditsText, IdempotencyKey, nextCursor, UnixMs, WARNINGS, withWarnings } from '../fields.ts'
import {
  AccountFilter,
  expiryRefusal,
  IssuedKey,
  KEY_INPUT,
  KEY_PARAMS,
  KeyChanges,
  KeyCursor,
  KeyView,
  KeyViewWithCap,
  keyCursor,
  keyNames,
  keyView,
  keyViewWithCap,
  RevokedKey,
  rangeWarnings,
} from '../key-shapes.ts'
import { AgreedTerms, PlanName } from '../plan-shapes.ts'
import type { OwnKeyRow, Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'

const GRACE_MAX_SECONDS = 30 * 86_400
const grace = `must be whole seconds from 0 to ${GRACE_MAX_SECONDS} (30 days)`

const RotateKey = z.strictObject({
  grace_seconds: z
    .int(grace)
    .min(0, grace)
    .max(GRACE_MAX_SECONDS, grace)
    .default(86_400)
    .describe('How long the old key still works; 0: it is revoked at once'),
  idempotency_key: IdempotencyKey.optional(),
})

const OldKeyEnds = UnixMs.describe('When the old key ends, Unix milliseconds')

const RepeatedRotation = IssuedKey.omit({ key: true }).extend({
  old_key_ends: OldKeyEnds,
  repeated: z.literal(true).describe('It was rotated by an earlier call'),
})

const KeyReach = z
  .object({
    pipelines: z
      .array(
        z.object({
          id: z.string().describe('`pipe_…`'),
          name: z.string().describe('As its owner called it'),
          topic: z.string().describe('What it reads'),
          destination: z.string().describe('Where its rows go: the type of the destination, and its host'),
          stops: z.boolean().describe('It runs, is charged to this key, and is paused when the key is revoked'),
          destination_set: z
            .boolean()
            .describe('This key, or one of its chain of rotations, last set where its rows go'),
        }),
      )
      .describe('Pipelines that are charged to it, or whose destination it set'),
    keys: z
      .array(
        z.object({
          hash: z.string().describe('SHA-256 of the key, hex'),
          prefix: z.string().describe('The key’s first twelve characters'),
          label: z.string().describe('Text for people'),
        }),
      )
      .describe(
        'Keys that work and were made or rotated with it, or with such a key, at most 1,000: they go on without it',
      ),
    webhook: z
      .string()
      .nullable()
      .describe('Address of the account’s webhook, where this key set it; null: it did not'),
  })
  .meta({ id: 'KeyReach' })

const REACH_TEXT = 'What stops when the key is revoked, which destinations it has set, and which keys it made'

/** Keys that replaced one another reach the same; a key that was replaced stops nothing, since its successor carries on. */
async function reachOf(
  key: Pick<KeyRow, 'account' | 'hash' | 'root' | 'replaced_by'>,
  { pipelines, keys, meterOf }: Pick<Platform, 'pipelines' | 'keys' | 'meterOf'>,
): Promise<z.infer<typeof KeyReach>> {
  const [reached, made, setter] = await Promise.all([
    pipelines.reach(key),
    keys.createdBy(key),
    meterOf(key.account).webhookSetter(),
  ])
  return {
    pipelines: reached.map(({ row: { id, fields }, isCharged, hasSetDestination }) => ({
      id,
      name: fields.name,
      topic: fields.topic,
      destination: recipientOf(fields.destination_config).trim(),
      stops: isCharged && key.replaced_by === null && fields.status === 'running',
      destination_set: hasSetDestination,
    })),
    keys: [...made],
    webhook: setter?.by === rootOf(key) ? setter.url : null,
  }
}

const OwnKeyView = KeyView.extend({
  cap_remaining: CreditsText.nullable().describe('What is left of its cap; null: no cap, or the meter did not answer'),
  spent_30_days: CreditsText.nullable().describe(
    'What its calls, minutes and rows cost in the last 30 days, as far as known; null: the meter did not answer',
  ),
}).meta({ id: 'OwnedKey' })
function ownKeyView({ spent, capLeft, ...key }: OwnKeyRow): z.infer<typeof OwnKeyView> {
  const text = (micro: number | null) => (micro === null ? null : formatCredits(micro))
  return { ...keyView(key), cap_remaining: key.cap === null ? null : text(capLeft), spent_30_days: text(spent) }
}

const CreateKey = z
  .strictObject({
    account: AccountId.optional().describe('The account that it is for; left out: a new one'),
    credits: Credits.optional().describe('In place of what the plan gives first; they do not expire'),
    plan: PlanName.optional(),
    terms: AgreedTerms.optional(),
    ...KEY_INPUT,
  })
  .check((context) => {
    const { account, credits, plan, terms } = context.value
    const only = 'only for a new account: leave "account" out, or grant to the account'
    for (const [field, value] of Object.entries({ credits, plan, terms })) {
      if (account !== undefined && value !== undefined) {
        context.issues.push({ code: 'custom', message: only, path: [field], input: undefined })
      }
    }
  })

const createKey = defineEndpoint({
  id: 'createKey',
  route: 'POST /admin/keys',
  summary: 'Issue a key, for an account or with a new one',
  description: '`plan`, `terms` and `credits` are of the new account, where `account` is left out.',
  body: {
    schema: CreateKey,
    optional: true,
    example: { account: 'acme', label: 'bot', products: ['info', 'stream'] },
  },
  responses: createdResponse('The key, shown this once', z.object({ ...IssuedKey.shape, ...WARNINGS })),
  handle: async ({ body: order }, { keys, now, isProxied }) => {
    const past = expiryRefusal(order.expires, now())
    if (past !== null) return err(past)
    const issued = await keys.create(order)
    const warnings = rangeWarnings(order.ranges, isProxied)
    if (order.credits === 0) warnings.push('credits: 0: the account can pay for nothing until it is granted some')
    return issued.ok ? reply(201, { ...issued.value, ...withWarnings(warnings) }) : issued
  },
})

const RepeatedKey = IssuedKey.omit({ key: true }).extend({
  repeated: z.literal(true).describe('It was made by an earlier call'),
})

const createOwnKey = defineEndpoint({
  id: 'createOwnKey',
  route: 'POST /platform/keys/',
  summary: 'Make a key of the account',
  description:
    `${MANAGE_ACCESS_TEXT} A retry with the same \`idempotency_key\` makes no other key, and does not show it again; one for another ` +
    'kind or label is refused (409). An account has at most 10,000 keys that work or were made within a day (409).',
  auth: 'service',
  body: {
    schema: z.strictObject({ ...KEY_INPUT, idempotency_key: IdempotencyKey.optional() }),
    optional: true,
    example: { label: 'bot', products: ['info', 'stream'], cap: '100' },
  },
  responses: {
    ...okResponse('Made before; the key is not shown again', RepeatedKey),
    ...createdResponse('The key, shown this once', z.object({ ...IssuedKey.shape, ...WARNINGS })),
  },
  refusals: [409],
  handle: async ({ body, identity: { account, keyHash } }, { keys, now, isProxied }) => {
    const maker = await managingKey(keys, keyHash)
    if (!maker.ok) return maker
    const refused = expiryRefusal(body.expires, now())
    if (refused !== null) return err(refused)
    const { idempotency_key: request = null, ...order } = body
    const made = await keys.createOwn({ ...order, account, request, maker: rootOf(maker.value) })
    if (!made.ok) return made
    const shown = { ...keyNames(made.value), kind: made.value.kind }
    if (!('key' in made.value)) return reply(200, { ...shown, repeated: true })
    return reply(201, { key: made.value.key, ...shown, ...withWarnings(rangeWarnings(order.ranges, isProxied)) })
  },
})

const PAGE_MAX = 1_000

const ListedKey = z.object({
  ...KeyViewWithCap.shape,
  balance: CreditsText.nullable().describe('The balance of its account; null: its meter did not answer'),
})

const listKeys = defineEndpoint({
  id: 'listKeys',
  route: 'GET /admin/keys',
  summary: 'Keys with their last use, newest first',
  description: 'Where `next` is not null there are more: ask again with `after` = `next`.',
  query: z.strictObject({
    account: AccountId.optional().describe('Of this account alone'),
    limit: wholeNumber(1, PAGE_MAX).default(PAGE_MAX).describe('At most so many, up to 1,000; 1,000 unless said'),
    after: KeyCursor.optional().describe('`next` of the page before'),
  }),
  responses: okResponse(
    'A page of keys',
    z.object({
      keys: z.array(ListedKey).describe('Newest first'),
      next: z.string().nullable().describe('Where the next page begins; null: this is the last one'),
    }),
  ),
  handle: async ({ query: { account, limit, after } }, { keys }) => {
    const listed = await keys.list(account, limit + 1, after)
    const shown = listed.slice(0, limit).map((key) => ({
      ...keyViewWithCap(key),
      balance: key.balance === null ? null : formatCredits(key.balance),
    }))
    return reply(200, { keys: shown, next: nextCursor(listed, limit, keyCursor) })
  },
})

const ownKeys = defineEndpoint({
  id: 'ownKeys',
  route: 'GET /platform/keys/',
  summary: 'The keys of the account, newest first',
  description: `${READ_ACCESS_TEXT} Where \`next\` is not null there are more: ask again with \`after\` = \`next\`.`,
  auth: 'key',
  query: z.strictObject({
    limit: wholeNumber(1, PAGE_MAX).default(100).describe('At most so many, up to 1,000; 100 unless said'),
    after: KeyCursor.optional().describe('`next` of the page before'),
  }),
  responses: okResponse(
    'A page of keys',
    z.object({
      keys: z.array(OwnKeyView).describe('Newest first'),
      next: z.string().nullable().describe('Where the next page begins; null: this is the last one'),
      counted: z.int().describe('Keys that work, or were made within a day'),
      at_most: z.int().describe('So many of those an account may have'),
    }),
    { keys: [{ spent_30_days: '3.5' }], counted: 1, at_most: 10000 },
  ),
  handle: async ({ query: { limit, after }, identity: { account } }, { keys }) => {
    const [rows, counted] = await Promise.all([keys.page(account, after ?? null, limit + 1), keys.count(account)])
    const next = nextCursor(rows, limit, keyCursor)
    return reply(200, { keys: rows.slice(0, limit).map(ownKeyView), next, counted, at_most: KEYS_MAX })
  },
})

const TOO_MANY_ROTATIONS: Refusal = {
  kind: 'conflict',
  message: `key: keys of the account that work or were made within a day are ${ROTATED_MAX}, rotated ones among them: wait a day, or revoke it`,
}

const [changeKey, changeOwnKey] = adminAndOwnEndpoints(KEY, {
  body: { schema: KeyChanges, optional: false, example: { label: 'bot 2', cap: '500', expires: null } },
  responses: okResponse('The key as it is now', z.object({ ...KeyView.shape, ...WARNINGS })),
  admin: {
    id: 'changeKey',
    route: 'PATCH /admin/keys/{key}',
    summary: 'Label, restrict or let expire; what is left out stays, null takes away',
    description: 'Isolates know it within a minute. New ranges hold for calls and new sockets; open ones stay.',
  },
  own: {
    id: 'changeOwnKey',
    route: 'PATCH /platform/keys/{key}',
    summary: 'Label, restrict or let expire a key of the account; what is left out stays, null takes away',
    description: 'Isolates know it within a minute; open sockets stay.',
    body: { schema: KeyChanges, optional: false, example: { label: 'bot 2', cap: '500' } },
  },
  handle: async ({ key, body }, { keys, now, isProxied }) => {
    const past = expiryRefusal(body.expires, now())
    if (past !== null) return err(past)
    const changed = await keys.change(key, body)
    return changed.ok
      ? reply(200, { ...keyView(changed.value), ...withWarnings(rangeWarnings(body.ranges, isProxied)) })
      : changed
  },
})

const ROTATION_TEXT =
  'The new key has the old one’s label, products, ranges and expiry, and shares its cap with what was spent under it. A key ' +
  'is replaced once: a retry with the same `idempotency_key` makes no other key, anything else is refused.'

const [rotateKey, rotateOwnKey] = adminAndOwnEndpoints(KEY, {
  body: { schema: RotateKey, optional: true, example: { grace_seconds: 3600, idempotency_key: 'spring' } },
  responses: {
    ...okResponse('Done before; the key is not shown again', RepeatedRotation),
    ...createdResponse('The new key, shown this once', z.object({ ...IssuedKey.shape, old_key_ends: OldKeyEnds })),
  },
  admin: {
    id: 'rotateKey',
    route: 'POST /admin/keys/{key}/rotate',
    summary: 'Replace a key by a new one; both work for a while',
    description: `${ROTATION_TEXT} Where the answer with the key was lost, rotate the new key by the \`hash\` that the retry shows.`,
    refusals: [409],
  },
  own: {
    id: 'rotateOwnKey',
    route: 'POST /platform/keys/{key}/rotate',
    summary: 'Replace a key of the account by a new one; both work for a while',
    description:
      `${ROTATION_TEXT} The key that asks may be rotated too: its successor manages from then on. Where 20,000 keys of the ` +
      'account work or were made within a day none is rotated (409).',
    refusals: [409],
  },
  handle: async ({ key, owner, body: { grace_seconds: seconds, idempotency_key: id = null } }, { keys }) => {
    if (owner !== null && (await keys.count(owner.account)) >= ROTATED_MAX) return err(TOO_MANY_ROTATIONS)
    const order = { graceMs: seconds * 1000, id }
    const rotated = await keys.rotate(key, owner === null ? order : { ...order, maker: owner.by })
    if (!rotated.ok) return rotated
    const { oldEndsMs, kind } = rotated.value
    const shown = { ...keyNames(rotated.value), kind, old_key_ends: oldEndsMs }
    return 'key' in rotated.value
      ? reply(201, { key: rotated.value.key, ...shown })
      : reply(200, { ...shown, repeated: true })
  },
})

const RevokedKeyWithReach = RevokedKey.extend({ reach: KeyReach.describe(REACH_TEXT) })

const revokeKey = defineEndpoint({
  id: 'revokeKey',
  route: 'DELETE /admin/keys/{key}',
  summary: 'Revoke a key for good; again is the same',
  description:
    'Refused within 30 s on HTTP, at once where it would change something; its sockets are closed with 4401 within 60 s, and pipelines that are charged to it are paused ' +
    'within 30 s, unless it was replaced. What it used stays recorded.',
  params: KEY_PARAMS,
  query: AccountFilter,
  responses: okResponse('Revoked', RevokedKeyWithReach, { revoked: 1790000000000 }),
  handle: async ({ params, query }, platform) => {
    const revoked = await platform.keys.revoke({ name: params.key, ...query })
    if (!revoked.ok) return revoked
    const reach = await reachOf(revoked.value, platform)
    return reply(200, { ...keyNames(revoked.value), revoked: revoked.value.revoked, reach })
  },
})

const revokeOwnKey = defineEndpoint({
  id: 'revokeOwnKey',
  route: 'DELETE /platform/keys/{key}',
  summary: 'Revoke a key of the account for good; again is the same',
  description:
    `${MANAGE_ACCESS_TEXT} Every service key may revoke itself. Refused within 30 s on HTTP, at once where it would change ` +
    'something; its sockets are closed with 4401 within 60 s, and pipelines that are charged to it are paused within 30 s, unless it was replaced. What it used stays recorded.',
  auth: 'service',
  params: KEY_PARAMS,
  responses: okResponse(
    'Revoked',
    z.object({
      ...RevokedKey.shape,
      reach: KeyReach.nullable().describe(`${REACH_TEXT}; null: a restricted key revoked itself`),
      is_this_key: z.boolean().describe('It is the key that asked: this was its last call'),
    }),
    { revoked: 1790000000000 },
  ),
  handle: async ({ params: { key: name }, identity: { account, keyHash } }, platform) => {
    const { keys } = platform
    const own = await keys.findByHash(keyHash)
    const refused = own?.hash === name || own?.prefix === name ? null : managementRefusal(own)
    if (refused !== null) return err(refused)
    const revoked = await keys.revoke({ name: own?.prefix === name ? own.hash : name, account })
    if (!revoked.ok) return revoked
    const { hash, revoked: at } = revoked.value
    const reach = managementRefusal(own) === null ? await reachOf(revoked.value, platform) : null
    return reply(200, { ...keyNames(revoked.value), revoked: at, reach, is_this_key: hash === keyHash })
  },
})

const [keyReach, ownKeyReach] = adminAndOwnEndpoints(KEY, {
  responses: okResponse('Its reach', KeyReach),
  admin: {
    id: 'keyReach',
    route: 'GET /admin/keys/{key}/reach',
    summary: REACH_TEXT,
    // The address of a webhook may hold a secret.
    role: 'owner',
  },
  own: { id: 'ownKeyReach', route: 'GET /platform/keys/{key}/reach', summary: REACH_TEXT },
  handle: async ({ key }, platform) => {
    const named = await platform.keys.find(key)
    return named.ok ? reply(200, await reachOf(named.value, platform)) : named
  },
})

export const KEYS = [
  ownKeys,
  createOwnKey,
  changeOwnKey,
  rotateOwnKey,
  revokeOwnKey,
  ownKeyReach,
  listKeys,
  createKey,
  changeKey,
  rotateKey,
  revokeKey,
  keyReach,
]
