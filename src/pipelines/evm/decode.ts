// Decodes contract logs according to an ABI. Invariants: a log that does not match decodes to null, never to a guess;
// the result is bounded JSON that every destination accepts.

import { decodeEventLog, toEventSelector, toEventSignature } from 'viem/utils'
import { type AbiEvent, type AbiInput, listsOf } from './abi.ts'

export interface DecodedLog {
  readonly event: string
  /** Such as `Transfer(address,address,uint256)`. */
  readonly signature: string
  readonly args: Readonly<Record<string, unknown>>
}

interface KnownEvent {
  readonly event: AbiEvent
  readonly signature: string
  readonly topicCount: number
}

type Hex = `0x${string}`
type Abi = readonly [Parameters<typeof toEventSignature>[0] & { readonly type: 'event' }]

/** Maximum length of the decoded `data`, in characters: many pointers in it may refer to the same value. */
const MAX_DATA_CHARS = 65_536
const MAX_ARGS_BYTES = 60_000

export class AbiDecoder {
  /** By topic 0. Events that differ only in indexed inputs share a topic 0. */
  readonly #bySelector: ReadonlyMap<string, readonly KnownEvent[]>

  constructor(events: readonly AbiEvent[]) {
    const all = events.map((event): KnownEvent => {
      const topics = 1 + event.inputs.filter(({ indexed }) => indexed).length
      return { event, signature: toEventSignature(event as Abi[0]), topicCount: topics }
    })
    this.#bySelector = Map.groupBy(all, ({ signature }) => toEventSelector(signature))
  }

  /** Topic 0 of every known event. */
  get selectors(): readonly string[] {
    return [...this.#bySelector.keys()]
  }

  /** Null: the ABI does not contain the event, or the data does not match it. */
  decode(topics: readonly string[], data: string): DecodedLog | null {
    if (data.length > MAX_DATA_CHARS) return null
    for (const { event, signature, topicCount: count } of this.#bySelector.get(topics[0] ?? '') ?? []) {
      if (count !== topics.length) continue
      const args = argsOf(event, topics, data)
      if (args !== null) return { event: event.name, signature, args }
    }
    return null
  }
}

function argsOf(event: AbiEvent, topics: readonly string[], data: string): DecodedLog['args'] | null {
  try {
    const abi = [event] as Abi
    const decoded = decodeEventLog({ abi, topics: topics as [Hex, ...Hex[]], data: data as Hex })
    const args = (decoded.args ?? {}) as Readonly<Record<string, unknown>>
    const all = event.inputs.map((input) => [input.name, jsonValue(args[input.name], input)])
    const shownArgs = Object.fromEntries(all) as DecodedLog['args']
    return new TextEncoder().encode(JSON.stringify(shownArgs)).length > MAX_ARGS_BYTES ? null : shownArgs
  } catch {
    return null
  }
}

function jsonValue(value: unknown, { type, indexed, components }: AbiInput): unknown {
  const [base, lists] = listsOf(type)
  // Topics contain only the hash of these types.
  if (indexed && (lists.length > 0 || ['string', 'bytes', 'tuple'].includes(base))) return value
  if (lists.length > 0) {
    const element = { name: '', type: type.slice(0, type.lastIndexOf('[')), indexed: false, components }
    return (value as readonly unknown[]).map((one) => jsonValue(one, element))
  }
  if (base === 'tuple') {
    const parts = value as Readonly<Record<string, unknown>>
    return Object.fromEntries(components.map((part) => [part.name, jsonValue(parts[part.name], part)]))
  }
  if (base === 'address') return (value as string).toLowerCase()
  // PostgreSQL text cannot contain NUL.
  if (base === 'string') return (value as string).replaceAll('\0', '\ufffd')
  return base === 'bool' || base.startsWith('bytes') ? value : String(value)
}
