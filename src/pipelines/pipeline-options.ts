// The options of a new pipeline: topics with their filters and columns, and destinations with their fields, read
// from the schemas that requests are validated with. Pure.

import * as z from 'zod'
import { CHANNELS } from '../relay/channels/catalogue.ts'
import { DestinationConfig, FILTERS, REQUESTED_TOPICS, TOPICS, type Topic } from './pipeline.ts'
import { secretField } from './secrets.ts'
import { TOPIC_COLUMNS, WALLET_TOPICS } from './topics/catalogue.ts'
import { HEAD_COLUMNS } from './topics/topic.ts'

export const TOPIC_GROUPS = ['trading', 'market', 'chain'] as const

/** Group and description of each topic. */
const TOPIC_TEXTS: Readonly<Record<Topic, readonly [group: (typeof TOPIC_GROUPS)[number], description: string]>> = {
  fills: ['trading', 'Fills of all wallets or of yours, two rows per trade'],
  completed_trades: ['trading', 'Positions of your wallets from opening to closing, with fees, funding and profit'],
  order_updates: ['trading', 'Order statuses of your wallets, from now on'],
  ledger: ['trading', 'Deposits, withdrawals, transfers and other balance changes except funding'],
  candles: ['market', 'Candles of all coins or of one, when they close'],
  book_diffs: ['market', 'Changed order book levels of each block'],
  oracle_updates: ['market', 'Oracle, mark and external prices of builder-deployed markets'],
  evm_logs: ['chain', 'Contract logs of a chain, decoded with your ABI'],
  writer_actions: ['chain', 'Actions that contracts sent to the exchange'],
  replica_cmds: ['chain', 'Signed actions of each block, from now on'],
}

/** Filters that are not subscriptions. */
const OWN_FILTERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  replicaCmds: { actionTypes: ['order'] },
  evmLogs: { chain: 'hyperliquid' },
}

const exampleOf = (type: string) => ({
  type,
  ...(CHANNELS.find((channel) => channel.type === type)?.example.request ?? OWN_FILTERS[type]),
})

/** In the order of their groups. */
export function topicOptions() {
  const all = TOPICS.map((topic) => {
    const [group, description] = TOPIC_TEXTS[topic]
    const columns = [...HEAD_COLUMNS, ...(TOPIC_COLUMNS.get(topic) ?? [])].map(({ name }) => name)
    const filters = FILTERS[topic].map((type) => ({ type, example: exampleOf(type) }))
    const filter_required = WALLET_TOPICS.includes(topic)
    return { topic, group, description, filters, filter_required, has_past: !REQUESTED_TOPICS.includes(topic), columns }
  })
  return TOPIC_GROUPS.flatMap((group) => all.filter((topic) => topic.group === group))
}

/** Destinations with the fields of their schemas, in order. */
export function destinationOptions() {
  return DestinationConfig.options.map(({ shape }) => {
    const { type: name, ...fields } = shape
    const type = name.value
    const secret = secretField({ type } as DestinationConfig)
    return {
      type,
      fields: Object.entries(fields).map(([field, schema]) => fieldOption(field, schema, field === secret)),
    }
  })
}

function fieldOption(name: string, schema: z.ZodType, secret: boolean) {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema
  const options = inner instanceof z.ZodEnum ? inner.options.map(String) : null
  const kind = options ? 'choice' : inner instanceof z.ZodBoolean ? 'switch' : secret ? 'secret' : 'text'
  const description = schema.description ?? inner.description ?? ''
  return { name, kind, description, required: inner === schema, options } as const
}
