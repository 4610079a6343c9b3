// `npm run admin -- key …`, and what `npm run keys` shares with it. Laws: a new key is printed once, alone; a key that is
// named is sent as its hash.

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

/** Without the key where it was made before. */
type IssuedKey = Omit<Responses['createKey'], 'key'> & Partial<Responses['rotateKey']>
type Key = Responses['listKeys']['keys'][number]
type KeyReach = Responses['revokeKey']['reach']

const PRODUCTS_HELP = 'what it may be used for: info, stream, rpc, data, graphql, platform'
const PIPELINES_HELP = 'pipelines that a service key may touch'
const RANGES_HELP = 'where it may be used from, such as 192.0.2.0/24,2001:db8::/32'

/** Adds the commands of `key` to the operator's program. */
export function keyCommands(admin: Command, act: CommandAction, now: () => number): void {
  const group = describeCommand(admin.command('key'), 'keys of accounts')
  describeCommand(
    keyOptions(group.command('issue')),
    'a new key of an account, alone on standard output where npm is silent (npm run -s)',
    ['acme --label bot'],
  )
    .argument('<account>', 'id of the account')
    .action(act((gateway, account, options) => issueKey(gateway, { account, ...options })))
  listCommand(group, act, now)
  describeCommand(group.command('change'), 'changes a key: what is left out stays', [
    'cqt_9fKxWq2T --cap 500 --expires never',
  ])
    .argument('<key>', KEY_HELP)
    .option('--label <text>', 'what people call it; "" takes it away', valueParser(LabelValue))
    .option('--products <a,b>', PRODUCTS_HELP, valueParser(ListValue))
    .option('--expires <time>', '2027-01-31 (its 00:00 UTC), 2027-01-31T12:00Z, or never', valueParser(ExpiryValue))
    .option('--cap <credits>', 'what it may spend in all, or none', valueParser(CapValue))
    .option('--ranges <a,b>', `${RANGES_HELP}, or none`, valueParser(RangesValue))
    .option(
      '--pipelines <own|all>',
      `${PIPELINES_HELP}, or none: as what restricts it says`,
      valueParser(PipelinesValue),
    )
    .action(
      act((gateway, name, { expires, cap, ranges, pipelines, ...options }, command) => {
        if (Object.keys(command.opts()).length === 0)
          return command.error('error: nothing is to be changed: say an option')
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
  describeCommand(
    group.command('rotate'),
    'replaces a key by a new one, alone on standard output where npm is silent (npm run -s)',
    ['cqt_9fKxWq2T --id spring'],
  )
    .argument('<key>', KEY_HELP)
    .option(
      '--grace <seconds>',
      'how long the old key works; a day unless said, 0: not at all',
      valueParser(GraceValue),
    )
    .option('--id <text>', 'name of this rotation: a retry under it makes no other key')
    .action(
      act((gateway, name, { grace, id }) =>
        issueKey(gateway, { grace_seconds: grace, idempotency_key: id }, `${keyPath(name)}/rotate`),
      ),
    )
  revokeCommand(group, act)
}

/** What a new key may be given. */
export function keyOptions(command: Command) {
  return command
    .option('--label <text>', 'what people call it', valueParser(LabelValue))
    .option('--kind <kind>', 'api, or service: one that reads usage and manages pipelines')
    .option('--products <a,b>', PRODUCTS_HELP, valueParser(ListValue))
    .option('--expires <time>', '2027-01-31 (its 00:00 UTC) or 2027-01-31T12:00Z', valueParser(TimeValue))
    .option('--cap <credits>', 'what it may spend in all', valueParser(CreditsValue))
    .option('--ranges <a,b>', RANGES_HELP, valueParser(ListValue))
    .option('--pipelines <own|all>', `${PIPELINES_HELP}; own unless said where it has a cap, ranges or an end`)
}

/** `list [ACCOUNT]`. */
export function listCommand(group: Command, act: CommandAction, now: () => number): void {
  describeCommand(group.command('list'), 'keys with their state, newest first, at most 1,000', ['', 'acme'])
    .argument('[account]', 'of this account alone')
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
  describeCommand(group.command('revoke'), 'ends a key for good', ['cqt_9fKxWq2T'])
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

/** What stops with a key, and where it had things sent. */
function reachNotes({ pipelines, keys, webhook }: KeyReach = { pipelines: [], keys: [], webhook: null }): string[] {
  const stopped = pipelines.filter(({ stops }) => stops)
  const others = pipelines.filter(({ stops, destination_set: hasSet }) => hasSet && !stops)
  return [
    ...stopped.map(
      ({ id, name }) => `paused within 30 s: ${id} (${name}); adopt it with another key, or set it to run`,
    ),
    ...others.map(({ id, name, destination }) => `check: ${id} (${name}) sends to ${destination}, which this key set`),
    ...keys.map((key) => `check: ${keyText(key)} was made with this key, and works`),
    ...(webhook === null ? [] : [`check: the account's webhook is ${webhook}, which this key set`]),
  ]
}

/** Asks for a new key: alone in the text, with what is to be known of it in the notes. */
export async function issueKey(
  gateway: GatewayClient,
  order: object,
  path = '/admin/keys',
): Promise<Result<CommandResult, string>> {
  const answer = await gateway.request<IssuedKey>('POST', path, ['prefix', 'account'], order)
  if (!answer.ok) return answer
  const { key, prefix, account, old_key_ends: ends } = answer.value
  const old = ends === undefined ? '' : `; the old key ends at ${secondText(ends)}`
  if (key !== undefined)
    return ok({ json: answer.value, text: key, notes: [`account ${account}; the key is not shown again${old}`] })
  // Not 0: a script that takes the key from standard output must not go on with nothing.
  return err(`Done before: ${prefix} of account ${account} is not shown again${old}. Rotate that one for another.`)
}

/** The one line of keys each, as lists show them; their limits where one has some. */
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
  const known = parseKey(name).ok ? createHash('sha256').update(name).digest('hex') : name
  return `/admin/keys/${encodeURIComponent(known)}`
}

/** Of a rotated key `replaced_by` is the hash of its successor; the rotation set `expires`, or `revoked` without a grace. */
type KeyTimes = Pick<Key, 'expires' | 'revoked' | 'replaced_by'> & Partial<Pick<Key, 'cap_remaining'>>

/**
 * `active`, `active until …`, `replaced, works until …`, `replaced, ended …`, `expired …`, `revoked …`; of one that works,
 * but has spent its cap, that comes first.
 */
export function keyState(key: KeyTimes, nowMs: number): string {
  const state = stateByTime(key, nowMs)
  const isSpent = key.cap_remaining != null && Number(key.cap_remaining) * MICRO_PER_CREDIT < CHEAPEST_MINUTE
  return isSpent && (key.expires ?? nowMs + 1) > nowMs && key.revoked === null ? `cap spent, ${state}` : state
}

function stateByTime({ expires, revoked, replaced_by: successor }: KeyTimes, nowMs: number): string {
  const isReplaced = successor !== null
  if (revoked !== null) return `${isReplaced ? 'replaced, ' : ''}revoked ${timeText(revoked)}`
  if (expires === null) return isReplaced ? 'replaced' : 'active'
  if (expires <= nowMs) return `${isReplaced ? 'replaced, ended' : 'expired'} ${timeText(expires)}`
  const until = expires - nowMs < HOUR_MS ? secondText(expires) : timeText(expires)
  return `${isReplaced ? 'replaced, works' : 'active'} until ${until}`
}

/** What of a key is less than all that its kind may, so that one which is active may be refused; empty where nothing is. */
function keyLimits({ kind, products, cap, cap_remaining: left, ranges }: Key): string {
  const isWhole = PRODUCTS_OF_KIND[kind]?.every((product) => products.includes(product)) ?? true
  const parts = [
    cap === null ? [] : [`cap ${cap}${left == null ? '' : ` (${left} left)`}`],
    isWhole ? [] : products,
    ranges ?? [],
  ]
  return parts
    .filter((part) => part.length > 0)
    .map((part) => part.join(', '))
    .join('; ')
}
