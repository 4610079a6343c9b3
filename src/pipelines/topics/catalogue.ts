// All topics, and how filters of log topics resolve to subscriptions.

import type { Column } from '../../archive/files/columns.ts'
import type { Issue } from '../../core/failure.ts'
import { nearestName } from '../../core/nearest.ts'
import { err, ok, type Result } from '../../core/result.ts'
import type { Target } from '../../relay/channel.ts'
import { readBody } from '../../relay/channels/catalogue.ts'
import { FILTERS, type Pipeline, type Topic } from '../pipeline.ts'
import { bookDiffs } from './book-diffs.ts'
import { candles } from './candles.ts'
import { completedTrades } from './completed-trades.ts'
import { fills, ledger, oracleUpdates, orderUpdates, writerActions } from './events.ts'
import { EVM_COLUMNS } from './evm-logs.ts'
import { replicaCmds } from './replica-cmds.ts'
import type { TopicDefinition } from './topic.ts'

/** Topics of the log. */
const TOPIC_DEFINITIONS: Readonly<Partial<Record<Topic, TopicDefinition>>> = {
  fills,
  ledger,
  book_diffs: bookDiffs,
  order_updates: orderUpdates,
  oracle_updates: oracleUpdates,
  writer_actions: writerActions,
  replica_cmds: replicaCmds,
  completed_trades: completedTrades,
  candles,
}

/** Columns of every topic. */
export const TOPIC_COLUMNS: ReadonlyMap<string, readonly Column[]> = new Map([
  ...Object.entries(TOPIC_DEFINITIONS).map(([topic, { columns }]) => [topic, columns] as const),
  ['evm_logs', EVM_COLUMNS],
])

/**
 * Topics that need a filter by wallet: otherwise their state would be unbounded, or there would be nothing to request
 * from feeders.
 */
export const WALLET_TOPICS: readonly Topic[] = ['completed_trades', 'order_updates']

export interface TopicSelection {
  readonly definition: TopicDefinition
  readonly interest: Target | null
}

/** Resolves topic and filter of a log pipeline. The error says what to send instead. */
export function selectTopic({ topic, filter }: Pick<Pipeline, 'topic' | 'filter'>): Result<TopicSelection, Issue> {
  const definition = TOPIC_DEFINITIONS[topic]
  if (!definition) return err({ path: 'topic', message: `"${topic}" is not available` })
  if (filter === null) {
    if (!WALLET_TOPICS.includes(topic)) return ok({ definition, interest: null })
    return err({ path: 'filter', message: `is required: "${topic}" needs a filter that names wallets` })
  }
  const types = FILTERS[topic]
  if (!types.includes(filter.type)) {
    const meant = nearestName(filter.type, types)
    const question = meant === undefined ? '' : ` (did you mean "${meant}"?)`
    const all = types.map((each) => JSON.stringify(each)).join(' or ')
    return err({ path: 'filter.type', message: `must be ${all} for "${topic}"${question}` })
  }
  const narrowed = definition.narrow?.(filter)
  if (narrowed?.ok) return ok({ definition: narrowed.value, interest: null })
  const interest = narrowed ?? readBody(filter)
  if (interest.ok) return ok({ definition, interest: interest.value })
  return err({ path: `filter.${interest.error.path}`, message: interest.error.message })
}
