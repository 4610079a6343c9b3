// `npx weir admin key …`, shared with `npx weir keys`. Invariants: a new key is printed once, alone on standard output; a key
// given as an argument is sent as its hash.

import { createHash } from 'node:crypto'
import type { Command } from '@commander-js/extra-typings'
import { parseKey } from '../accounts/format.ts'
import { PRODUCTS_OF_KIND } from '../accounts/key-record.ts'
import type { Responses } from '../console/responses.ts'
import { MICRO_PER_CREDIT } from '../core/amount.ts'
import { describeCommand, valueParser } from '../core/command-line.node.ts'
import { err, ok, type Result } from '../core/result.ts'
import { HOUR_MS } from '../core/time.ts'
import { CHEAPEST_MINUTE } from '../metering/tariff.ts'
import type { GatewayClient } from './gateway.node.ts'
import { accountPath, KEY_HELP } from './gateway.node.ts'
import { type CommandAction, type CommandResult, showResponse, toResult } from './shell.node.ts'
import { headedTable, secondText, timeText } from './table.node.ts'
import {
  CapValue,
  CreditsValue,
  ExpiryValue,
  GraceValue,
  LabelValue,
  ListValue,
  orNull,
  PipelinesValue,
  RangesValue,
  TimeValue,
} from './values.ts'

/** The response to a repeated request has no `key`. */
type IssuedKey = Omit<Responses['createKey'], 'key'> & Partial<Responses['rotateKey']>
type Key = Responses['listKeys']['keys'][number]
type KeyReach = Responses['revokeKey']['reach']

const PRODUCTS_HELP = 'allowed products: info, stream, rpc, data, graphql, platform'
const PIPELINES_HELP = 'pipelines that a service key may manage'
const RANGES_HELP = 'allowed IP addresses, such as 192.0.2.0/24,2001:db8::/32'

/** Adds the commands of `key` to the operator's program. */
export function keyCommands(admin: Command, act: CommandAction, now: () => number): void {
  const group = describeCommand(admin.command('key'), 'manage keys of accounts')
  describeCommand(keyOptions(group.command('issue')), 'create a key; only the key is printed to standard output', [
    'acme --label bot',
  ])
    .argument('<account>', 'account id')
    .action(act((gateway, account, options) => issueKey(gateway, { account, ...options })))
  listCommand(group, act, now)
  describeCommand(group.command('change'), 'edit a key; omitted options stay unchanged', [
    'cqt_9fKxWq2T --cap 500 --expires never',
  ])
    .argument('<key>', KEY_HELP)
    .option('--label <text>', 'display name; "" removes it', valueParser(LabelValue))
    .option('--products <a,b>', PRODUCTS_HELP, valueParser(ListValue))
    .option('--expires <time>', '2027-01-31 (00:00 UTC), 2027-01-31T12:00Z, or never', valueParser(ExpiryValue))
    .option('--cap <credits>', 'spending limit, or none', valueParser(CapValue))
    .option('--ranges <a,b>', `${RANGES_HELP}, or none`, valueParser(RangesValue))
    .option(
      '--pipelines <own|all>',
      `${PIPELINES_HELP}; none derives it from the restrictions of the key`,
      valueParser(PipelinesValue),
    )
    .action(
      act((gateway, name, { expires, cap, ranges, pipelines, ...options }, command) => {
        if (Object.keys(command.opts()).length === 0)
          return command.error('error: nothing to change; pass at least one option')
        const change = {
          ...options,
          expires: orNull(expires),
          cap: orNull(cap),
          ranges: orNull(ranges),
          pipelines: orNull(pipelines),
        }
        return showResponse(gateway, 'PATCH', keyPath(name), change)
      }),
    )
  describeCommand(group.command('rotate'), 'replace a key; only the new key is printed to standard output', [
    'cqt_9fKxWq2T --id spring',
  ])
    .argument('<key>', KEY_HELP)
    .option(
      '--grace <seconds>',
      'how long the old key keeps working (default: 1 day; 0: not at all)',
      valueParser(GraceValue),
    )
    .option('--id <text>', 'idempotency key: a retry with the same id creates no second key')
    .action(
      act((gateway, name, { grace, id }) =>
        issueKey(gateway, { grace_seconds: grace, idempotency_key: id }, `${keyPath(name)}/rotate`),
      ),
    )
  revokeCommand(group, act)
}

/** The options of a new key. */
export function keyOptions(command: Command) {
  return command
    .option('--label <text>', 'display name', valueParser(LabelValue))
    .option('--kind <kind>', 'api or service (default: api); a service key manages the account')
    .option('--products <a,b>', PRODUCTS_HELP, valueParser(ListValue))
    .option('--expires <time>', '2027-01-31 (00:00 UTC) or 2027-01-31T12:00Z', valueParser(TimeValue))
    .option('--cap <credits>', 'spending limit', valueParser(CreditsValue))
    .option('--ranges <a,b>', RANGES_HELP, valueParser(ListValue))
    .option(
      '--pipelines <own|all>',
      `${PIPELINES_HELP} (default: own if it has a cap, ranges or an expiry, otherwise all)`,
    )
}

/** `list [ACCOUNT]`. */
export function listCommand(group: Command, act: CommandAction, now: () => number): void {
  describeCommand(group.command('list'), 'list keys with their state, newest first, at most 1,000', ['', 'acme'])
    .argument('[account]', 'only this account')
    .action(
      act(async (gateway, account) => {
        const query = account === undefined ? '' : `?account=${encodeURIComponent(account)}`
        const answer = await gateway.request<Responses['listKeys']>('GET', `/admin/keys${query}`, ['keys'])
        if (!answer.ok) return answer
        const { keys } = answer.value
        if (account !== undefined && keys.length === 0) {
          const found = await gateway.request('GET', accountPath(account))
          if (!found.ok) return found
        }
        return ok({ json: answer.value, text: keyTable(keys, now()) })
      }),
    )
}

/** `revoke KEY`. */
export function revokeCommand(group: Command, act: CommandAction): void {
  describeCommand(group.command('revoke'), 'revoke a key permanently', ['cqt_9fKxWq2T'])
    .argument('<key>', KEY_HELP)
    .action(
      act(async (gateway, name) => {
        return toResult(
          await gateway.request<Responses['revokeKey']>('DELETE', keyPath(name), ['prefix', 'label']),
          (revoked) => {
            return { text: `revoked ${keyText(revoked)}`, notes: reachNotes(revoked.reach) }
          },
        )
      }),
    )
}

const keyText = ({ prefix, label }: { readonly prefix: string; readonly label: string }) =>
  `${prefix}${label === '' ? '' : ` (${label})`}`

/** The effects of revoking a key: paused pipelines, and destinations and keys to check. */
function reachNotes({ pipelines, keys, webhook }: KeyReach = { pipelines: [], keys: [], webhook: null }): string[] {
  const stopped = pipelines.filter(({ stops }) => stops)
  const others = pipelines.filter(({ stops, destination_set: hasSet }) => hasSet && !stops)
  return [
    ...stopped.map(
      ({ id, name }) => `pausing within 30 s: ${id} (${name}); adopt it with a different key to keep it running`,
    ),
    ...others.map(({ id, name, destination }) => `check: ${id} (${name}) sends to ${destination}, set by this key`),
    ...keys.map((key) => `check: ${keyText(key)} was created with this key and is still active`),
    ...(webhook === null ? [] : [`check: the account webhook sends to ${webhook}, set by this key`]),
  ]
}

/** Creates a key. Standard output gets only the key; details are notes. */
export async function issueKey(
  gateway: GatewayClient,
  order: object,
  path = '/admin/keys',
): Promise<Result<CommandResult, string>> {
  const answer = await gateway.request<IssuedKey>('POST', path, ['prefix', 'account'], order)
  if (!answer.ok) return answer
  const { key, prefix, account, old_key_ends: ends } = answer.value
  const old = ends === undefined ? '' : `; the old key stops working at ${secondText(ends)}`
  if (key !== undefined)
    return ok({
      json: answer.value,
      text: key,
      notes: [`account ${account}; save the key now, it is not shown again${old}`],
    })
  // This is a failure, because a script that reads the key from standard output must not continue without one.
  return err(
    `A request with this --id already created ${prefix} of account ${account}, and the key is not shown again${old}. Rotate it to get a new key.`,
  )
}

/** A table with one line per key. It has a column for limits if any key has limits. */
export function keyTable(keys: readonly Key[], nowMs: number): string {
  const limits = keys.map(keyLimits)
  const bounds = (text: string) => (limits.some((each) => each !== '') ? [text] : [])
  const rows = keys.map((key, i) => [
    key.prefix,
    key.kind,
    key.account,
    key.balance,
    timeText(key.created),
    key.last_used === null ? 'never' : timeText(key.last_used),
    keyState(key, nowMs),
    ...bounds(limits[i] || '-'),
    key.label,
  ])
  const names = [
    'prefix',
    'kind',
    'account',
    'balance',
    'created',
    'last used (hour)',
    'state',
    ...bounds('limits'),
    'label',
  ]
  return headedTable([names, ...rows])
}

function keyPath(name: string): string {
  const id = parseKey(name).ok ? createHash('sha256').update(name).digest('hex') : name
  return `/admin/keys/${encodeURIComponent(id)}`
}

/** `replaced_by` is the hash of the successor. Rotation sets `expires`, or `revoked` if there is no grace period. */
type KeyTimes = Pick<Key, 'expires' | 'revoked' | 'replaced_by'> & Partial<Pick<Key, 'cap_remaining'>>

/**
 * `active`, `active until …`, `replaced, active until …`, `replaced, expired …`, `expired …` or `revoked …`. For an
 * active key that has used up its cap, the state begins with `cap used up`.
 */
export function keyState(key: KeyTimes, nowMs: number): string {
  const state = stateByTime(key, nowMs)
  const isSpent = key.cap_remaining != null && Number(key.cap_remaining) * MICRO_PER_CREDIT < CHEAPEST_MINUTE
  return isSpent && (key.expires ?? nowMs + 1) > nowMs && key.revoked === null ? `cap used up, ${state}` : state
}

function stateByTime({ expires, revoked, replaced_by: successor }: KeyTimes, nowMs: number): string {
  const isReplaced = successor !== null
  if (revoked !== null) return `${isReplaced ? 'replaced, ' : ''}revoked ${timeText(revoked)}`
  if (expires === null) return isReplaced ? 'replaced' : 'active'
  if (expires <= nowMs) return `${isReplaced ? 'replaced, ' : ''}expired ${timeText(expires)}`
  const until = expires - nowMs < HOUR_MS ? secondText(expires) : timeText(expires)
  return `${isReplaced ? 'replaced, ' : ''}active until ${until}`
}

/** The restrictions of a key, which explain why an active key may be rejected; empty if there are none. */
function keyLimits({ kind, products, cap, cap_remaining: left, ranges }: Key): string {
  const hasAllProducts = PRODUCTS_OF_KIND[kind]?.every((product) => products.includes(product)) ?? true
  const parts = [
    cap === null ? [] : [`cap ${cap}${left == null ? '' : ` (${left} left)`}`],
    hasAllProducts ? [] : products,
    ranges ?? [],
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join(', '))
    .join('; ')
}
