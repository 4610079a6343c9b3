// replica_cmds: signed actions from the node's folder of that name, one row per action. Live only: feeders read the
// folder only while a pipeline needs it, and the archive has none. A line may come with a later block, so rows have the
// height and time of their own block in columns.

import * as z from 'zod'
import type { Column } from '../../archive/files/columns.ts'
import type { Issue } from '../../core/failure.ts'
import { err, ok, type Result } from '../../core/result.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { Address } from '../../protocol/feed/block.ts'
import type { RelayEvents } from '../../protocol/feed/log-api.ts'
import type { ActionEntry, ReplicaEntry } from '../../protocol/feed/replica-entries.ts'
import {
  gapRow,
  keyedRows,
  type TopicBlock,
  type TopicDefinition,
  type TopicFold,
  type TriggerSource,
} from './topic.ts'

const MAX_TYPES = 100
const MAX_USERS = 1_000
const User = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(Address)
const Filter = z.strictObject({
  type: z.literal('replicaCmds'),
  actionTypes: z.array(z.string().min(1).max(64)).min(1).max(MAX_TYPES).optional(),
  users: z.array(User).min(1).max(MAX_USERS).optional(),
})

/** Types and users of the actions to show; null: all. */
interface Selection {
  readonly types: ReadonlySet<unknown> | null
  readonly users: ReadonlySet<unknown> | null
}

/** `replica`: undefined if the signed actions of the block are unknown. */
interface ReplicaBlock extends TopicBlock {
  readonly replica?: readonly unknown[] | undefined
}

const UNKNOWN_REASON =
  "these blocks have no data of the node's folder replica_cmds: it was not requested yet, or is missing"
const NO_USERS_REASON = 'some actions have no user, because the node writes no responses to them'
/** Maximum length of a reason, which may join several. */
const MAX_REASON_CHARS = 500

const COLUMNS: readonly Column[] = [
  { name: 'height', type: 'whole' },
  { name: 'time', type: 'time', isOptional: true },
  { name: 'round', type: 'whole', isOptional: true },
  { name: 'proposer', type: 'text', isOptional: true },
  { name: 'bundle_hash', type: 'text', isOptional: true },
  { name: 'action_index', type: 'whole' },
  ...['type', 'user', 'status'].map((name): Column => ({ name, type: 'text', isOptional: true })),
  ...['signed_action', 'response', 'other'].map((name): Column => ({ name, type: 'json', isOptional: true })),
]

type Fields = Readonly<Record<string, unknown>>
const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
const wholeOf = (value: unknown) => (Number.isSafeInteger(value) ? value : null)
/** The fields that are not null; null if there are none. */
function present(fields: Fields): Fields | null {
  const some = Object.entries(fields).filter(([, value]) => value !== null)
  return some.length > 0 ? Object.fromEntries(some) : null
}
/** The fields of which the row has no column. */
const restOf = (fields: Fields, columns: Fields) =>
  present(Object.fromEntries(Object.entries(fields).filter(([name]) => (columns[name] ?? null) === null)))

/** The line and the bundle that an action belongs to. */
class Position {
  height = 0
  #line: Fields = {}
  #lineRest: Fields = {}
  #bundleHash: string | null = null
  #bundleRest: Fields | null = null

  onLine({ height, block = {}, other = null }: { height: number; block?: Fields; other?: Fields | null }): void {
    const { time, round, proposer } = block
    const timeMs = typeof time === 'string' ? Date.parse(`${time.slice(0, 23)}Z`) : Number.NaN
    const known = { time: wholeOf(timeMs), round: wholeOf(round), proposer: textOf(proposer) }
    this.height = height
    this.#line = { height, ...known }
    this.#lineRest = { line: other, block: restOf(block, known) }
    this.onBundle({})
  }

  onBundle(bundle: Fields): void {
    this.#bundleHash = textOf(bundle.hash)
    this.#bundleRest = restOf(bundle, { hash: this.#bundleHash })
  }

  cellsOf({ action, index, user = null, response = null }: ActionEntry): Fields {
    return {
      ...this.#line,
      bundle_hash: this.#bundleHash,
      action_index: index,
      type: typeOf(action),
      user,
      status: textOf(Object(response).status),
      signed_action: action,
      response,
      other: present({ ...this.#lineRest, bundle: this.#bundleRest }),
    }
  }
}

const typeOf = (action: unknown) => textOf(Object(Object(action).action).type)

/** Rows of one block. */
function rowsOf(block: ReplicaBlock, { types, users }: Selection) {
  const { height, time, replica } = block
  if (replica === undefined) return [gapRow(height, height, time, UNKNOWN_REASON)]
  const reasons = new Set<string>()
  const position = new Position()
  const rows: (readonly [string, Fields])[] = []
  for (const entry of replica.map(Object) as ReplicaEntry[]) {
    if ('line' in entry) position.onLine(entry.line)
    else if ('bundle' in entry) position.onBundle(entry.bundle)
    else if ('lost' in entry) reasons.add(String(entry.lost))
    else if ('action' in entry && (types?.has(typeOf(entry.action)) ?? true)) {
      if (users && entry.user === undefined) reasons.add(NO_USERS_REASON)
      if (users === null || users.has(entry.user))
        rows.push([`${position.height}:${entry.index}`, position.cellsOf(entry)])
    }
  }
  const reason = [...reasons].join('; ').slice(0, MAX_REASON_CHARS)
  return [...(reason === '' ? [] : [gapRow(height, height, time, reason)]), ...keyedRows(block, rows)]
}

/** Nearly every block has actions. A pipeline that waits also keeps feeders reading them. */
const EVERY_BLOCK: TriggerSource = { namesIn: () => null }

function topicOf(selection: Selection): TopicDefinition {
  return {
    lines: 'replica',
    columns: COLUMNS,
    trigger: () => ({ source: EVERY_BLOCK, names: [] }),
    open: (): TopicFold<ReplicaBlock> => ({
      parse: (line, entries = '') => {
        const { height, time, epoch = null } = JSON.parse(line) as RelayEvents
        return { height, time, epoch, replica: entries === '' ? undefined : (JSON.parse(entries) as unknown[]) }
      },
      rows: (block) => rowsOf(block, selection),
    }),
    narrow: (sent): Result<TopicDefinition, Issue> => {
      const parsed = parseWith(Filter, sent)
      if (!parsed.ok) return err(parsed.error[0])
      const { actionTypes, users } = parsed.value
      const setOf = (names: readonly string[] | undefined) => (names ? new Set(names) : null)
      return ok(topicOf({ types: setOf(actionTypes), users: setOf(users) }))
    },
  }
}

export const replicaCmds = topicOf({ types: null, users: null })
