// Key endpoints for the operator and the account's owner. Invariants: a key appears only in the response that created
// it; a retry creates no second key; every service key can revoke itself, whatever its restrictions.

import * as z from 'zod'
import { KEYS_MAX, type KeyRow, ROTATED_MAX, rootOf } from '../../../accounts/key-row.ts'
import { formatCredits } from '../../../core/amount.ts'
import { inGroups } from '../../../core/digit-groups.ts'
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
  namedKeyRefusal,
  READ_ACCESS_TEXT,
} from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import {
  Credits,
  CreditsText,
  IdempotencyKey,
  MeterRegion,
  nextCursor,
  UnixMs,
  WARNINGS,
  withWarnings,
} from '../fields.ts'
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
import { serviceKeyRefusal } from '../operation-roles.ts'
import { AgreedTerms, PlanName } from '../plan-shapes.ts'
import type { OwnKeyRow, Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'

const GRACE_MAX_SECONDS = 30 * 86_400
const grace = `must be an integer from 0 to ${inGroups(GRACE_MAX_SECONDS)} (30 days)`

const RotateKey = z.strictObject({
  grace_seconds: z
    .int(grace)
    .min(0, grace)
    .max(GRACE_MAX_SECONDS, grace)
    .default(86_400)
    .describe('Seconds that the old key remains valid; 0: revoke immediately'),
  idempotency_key: IdempotencyKey.optional(),
})

const OldKeyEnds = UnixMs.describe('Expiry of the old key, Unix milliseconds')

const RepeatedRotation = IssuedKey.omit({ key: true }).extend({
  old_key_ends: OldKeyEnds,
  repeated: z.literal(true).describe('Whether an earlier call already rotated the key; always true here'),
})

const KeyReach = z
  .object({
    pipelines: z
      .array(
        z.object({
          id: z.string().describe('Pipeline id, `pipe_…`'),
          name: z.string().describe('Pipeline name'),
          topic: z.string().describe('Topic of the pipeline'),
          destination: z.string().describe('Type and host of the destination'),
          stops: z
            .boolean()
            .describe(
              'Whether revoking the key pauses the pipeline, because the pipeline is running and is charged to this key',
            ),
          destination_set: z
            .boolean()
            .describe('Whether this key, or another key of its rotation chain, was the last to set the destination'),
        }),
      )
      .describe('Pipelines that are charged to the key, or whose destination it set'),
    keys: z
      .array(
        z.object({
          hash: z.string().describe('SHA-256 of the key, in hex'),
          prefix: z.string().describe('First 12 characters of the key'),
          label: z.string().describe('Display name'),
        }),
      )
      .describe(
        'Active keys that this key created or rotated, directly or through other keys, at most 1,000; they remain valid',
      ),
    webhook: z.string().nullable().describe('URL of the account’s webhook if this key set it, else null'),
  })
  .meta({ id: 'KeyReach' })

const REACH_TEXT = 'Pipelines, destinations and keys that depend on the key'

/**
 * Finds what depends on a key's rotation chain. Revoking a replaced key stops nothing, because its successor continues.
 */
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
  cap_remaining: CreditsText.nullable().describe('Remaining credits of the cap; null: no cap, or meter unavailable'),
  spent_30_days: CreditsText.nullable().describe('Credits used in the last 30 days; null: meter unavailable'),
}).meta({ id: 'OwnedKey' })
function ownKeyView({ spent, capLeft, ...key }: OwnKeyRow): z.infer<typeof OwnKeyView> {
  const text = (micro: number | null) => (micro === null ? null : formatCredits(micro))
  return { ...keyView(key), cap_remaining: key.cap === null ? null : text(capLeft), spent_30_days: text(spent) }
}

const CreateKey = z
  .strictObject({
    account: AccountId.optional().describe('Account of the key; absent: creates a new account'),
    credits: Credits.optional().describe('Initial credits instead of the plan’s; they do not expire'),
    plan: PlanName.optional(),
    terms: AgreedTerms.optional(),
    region: MeterRegion,
    ...KEY_INPUT,
  })
  .check((context) => {
    const { account, credits, plan, terms, region } = context.value
    const only = 'is allowed only for a new account. Omit "account", or change the existing account instead'
    for (const [field, value] of Object.entries({ credits, plan, terms, region })) {
      if (account !== undefined && value !== undefined) {
        context.issues.push({ code: 'custom', message: only, path: [field], input: undefined })
      }
    }
  })

const createKey = defineEndpoint({
  id: 'createKey',
  route: 'POST /admin/keys',
  summary: 'Create a key for an existing or a new account',
  description: 'Without `account`, creates an account with `plan`, `terms`, `credits` and `region`.',
  body: {
    schema: CreateKey,
    optional: true,
    example: { account: 'acme', label: 'bot', products: ['info', 'stream'] },
  },
  responses: createdResponse('The key, shown only once', z.object({ ...IssuedKey.shape, ...WARNINGS })),
  handle: async ({ body: input }, { keys, now, isProxied }) => {
    const past = expiryRefusal(input.expires, now())
    if (past !== null) return err(past)
    const issued = await keys.create(input)
    const warnings = rangeWarnings(input.ranges, isProxied)
    if (input.credits === 0)
      warnings.push('credits: 0 means that the account cannot pay for anything until it gets a grant')
    return issued.ok ? reply(201, { ...issued.value, ...withWarnings(warnings) }) : issued
  },
})

const RepeatedKey = IssuedKey.omit({ key: true }).extend({
  repeated: z.literal(true).describe('Whether an earlier call already created the key; always true here'),
})

const createOwnKey = defineEndpoint({
  id: 'createOwnKey',
  route: 'POST /platform/keys/',
  summary: 'Create a key',
  description: `${MANAGE_ACCESS_TEXT} A retry with the same \`idempotency_key\` creates no second key and does not show the key again. It is rejected if the kind or label differs (409). An account can have 10,000 keys that are active or were created in the last 24 hours (409).`,
  auth: 'service',
  body: {
    schema: z.strictObject({ ...KEY_INPUT, idempotency_key: IdempotencyKey.optional() }),
    optional: true,
    example: { label: 'bot', products: ['info', 'stream'], cap: '100' },
  },
  responses: {
    ...okResponse('Created by an earlier call; the key is not shown again', RepeatedKey),
    ...createdResponse('The key, shown only once', z.object({ ...IssuedKey.shape, ...WARNINGS })),
  },
  refusals: [409],
  handle: async ({ body, identity }, { keys, now, isProxied }) => {
    const { account, keyHash } = identity
    const maker = await managingKey(keys, keyHash)
    if (!maker.ok) return maker
    const refused = serviceKeyRefusal(identity, body.kind) ?? expiryRefusal(body.expires, now())
    if (refused !== null) return err(refused)
    const { idempotency_key: request = null, ...input } = body
    const made = await keys.createOwn({ ...input, account, request, maker: rootOf(maker.value) })
    if (!made.ok) return made
    const shown = { ...keyNames(made.value), kind: made.value.kind }
    if (!('key' in made.value)) return reply(200, { ...shown, repeated: true })
    return reply(201, { key: made.value.key, ...shown, ...withWarnings(rangeWarnings(input.ranges, isProxied)) })
  },
})

const PAGE_MAX = 1_000

const ListedKey = z.object({
  ...KeyViewWithCap.shape,
  balance: CreditsText.nullable().describe('Balance of the account; null: meter unavailable'),
})

const listKeys = defineEndpoint({
  id: 'listKeys',
  route: 'GET /admin/keys',
  summary: 'List keys, with their last use, newest first',
  description: 'If `next` is not null, request the next page with `after` = `next`.',
  query: z.strictObject({
    account: AccountId.optional().describe('Only keys of this account'),
    limit: wholeNumber(1, PAGE_MAX).default(PAGE_MAX).describe('Maximum rows per page, up to 1,000; default 1,000'),
    after: KeyCursor.optional().describe('Value of `next` from the previous page'),
  }),
  responses: okResponse(
    'A page of keys',
    z.object({
      keys: z.array(ListedKey).describe('Keys, newest first'),
      next: z.string().nullable().describe('Cursor for the next page; null: last page'),
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
  summary: 'List keys, newest first',
  description: `${READ_ACCESS_TEXT} If \`next\` is not null, request the next page with \`after\` = \`next\`.`,
  auth: 'key',
  query: z.strictObject({
    limit: wholeNumber(1, PAGE_MAX).default(100).describe('Maximum rows per page, up to 1,000; default 100'),
    after: KeyCursor.optional().describe('Value of `next` from the previous page'),
  }),
  responses: okResponse(
    'A page of keys',
    z.object({
      keys: z.array(OwnKeyView).describe('Keys, newest first'),
      next: z.string().nullable().describe('Cursor for the next page; null: last page'),
      counted: z.int().describe('Number of keys that are active or were created in the last 24 hours'),
      at_most: z.int().describe('Maximum number of such keys'),
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
  message: `key: this account already has ${inGroups(ROTATED_MAX)} keys that are active or were created in the last 24 hours, rotated ones included. Wait a day, or revoke the key instead`,
}

const [changeKey, changeOwnKey] = adminAndOwnEndpoints(KEY, {
  body: { schema: KeyChanges, optional: false, example: { label: 'bot 2', cap: '500', expires: null } },
  responses: okResponse('The updated key', z.object({ ...KeyView.shape, ...WARNINGS })),
  admin: {
    id: 'changeKey',
    route: 'PATCH /admin/keys/{key}',
    summary: 'Change the label, restrictions or expiry of a key; absent fields stay unchanged, null removes a value',
    description: 'Takes effect within a minute. New IP ranges apply to calls and new sockets; open sockets stay open.',
  },
  own: {
    id: 'changeOwnKey',
    route: 'PATCH /platform/keys/{key}',
    summary: 'Change the label, restrictions or expiry of a key; absent fields stay unchanged, null removes a value',
    description: 'Takes effect within a minute; open sockets stay open.',
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
  'The new key has the label, products, ranges and expiry of the old one, and both share one cap. A key can be replaced only once. A retry with the same `idempotency_key` creates no second key; any other request to rotate the old key is rejected.'

const [rotateKey, rotateOwnKey] = adminAndOwnEndpoints(KEY, {
  body: { schema: RotateKey, optional: true, example: { grace_seconds: 3600, idempotency_key: 'spring' } },
  responses: {
    ...okResponse('Rotated by an earlier call; the key is not shown again', RepeatedRotation),
    ...createdResponse('The new key, shown only once', z.object({ ...IssuedKey.shape, old_key_ends: OldKeyEnds })),
  },
  admin: {
    id: 'rotateKey',
    route: 'POST /admin/keys/{key}/rotate',
    summary: 'Rotate a key; both keys work during the grace period',
    description: `${ROTATION_TEXT} If you lost the response with the new key, retry to get the new key’s \`hash\`, then rotate the new key.`,
    refusals: [409],
  },
  own: {
    id: 'rotateOwnKey',
    route: 'POST /platform/keys/{key}/rotate',
    summary: 'Rotate a key; both keys work during the grace period',
    description: `${ROTATION_TEXT} The calling key can rotate itself; its successor then manages the account. Rejected if the account has 20,000 keys that are active or were created in the last 24 hours (409).`,
    refusals: [409],
  },
  handle: async ({ key, owner, body: { grace_seconds: seconds, idempotency_key: id = null } }, { keys }) => {
    if (owner !== null && (await keys.count(owner.account)) >= ROTATED_MAX) return err(TOO_MANY_ROTATIONS)
    const input = { graceMs: seconds * 1000, id }
    const rotated = await keys.rotate(key, owner === null ? input : { ...input, maker: owner.by })
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
  summary: 'Revoke a key permanently; idempotent',
  description:
    'HTTP calls are rejected within 30 s; calls that change something are rejected immediately. Sockets are closed with 4401 within 60 s. Pipelines charged to the key are paused within 30 s, unless the key was replaced. Usage data is kept.',
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
  summary: 'Revoke a key permanently; idempotent',
  description: `${MANAGE_ACCESS_TEXT} Every service key can revoke itself. HTTP calls are rejected within 30 s; calls that change something are rejected immediately. Sockets are closed with 4401 within 60 s. Pipelines charged to the key are paused within 30 s, unless the key was replaced. Usage data is kept.`,
  auth: 'service',
  params: KEY_PARAMS,
  responses: okResponse(
    'Revoked',
    z.object({
      ...RevokedKey.shape,
      reach: KeyReach.nullable().describe(`${REACH_TEXT}; null: a restricted key revoked itself`),
      is_this_key: z.boolean().describe('Whether the calling key revoked itself'),
    }),
    { revoked: 1790000000000 },
  ),
  handle: async ({ params: { key: name }, identity }, platform) => {
    const { keys } = platform
    const { account, keyHash } = identity
    const beyondRole = await namedKeyRefusal(keys, identity, name)
    if (beyondRole !== null) return err(beyondRole)
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
  responses: okResponse('The dependents of the key', KeyReach),
  admin: {
    id: 'keyReach',
    route: 'GET /admin/keys/{key}/reach',
    summary: REACH_TEXT,
    // The URL of a webhook may contain a secret.
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
