// Reads the blocks of an `evm_logs` pipeline from the nodes of a chain, up to the newest final block. Invariants: each
// height once and in order, empty blocks as a bare height; blocks already read are compared with later responses, and
// reading stops if one has changed.

import type { EvmChain, EvmLog, LogPage, LogQuery } from '../evm/evm-chain.ts'
import { FatalPipelineError } from '../pipeline.ts'
import type { Anchor } from '../topics/evm-logs.ts'
import type { SourceItem, StartPosition } from './source.ts'

const staleNodeMessage = (head: number, read: number) =>
  `The newest final block is ${head}, but block ${read} has already been read: the nodes are behind, or the chain was reset`

export class EvmSource {
  readonly #chain: EvmChain
  readonly #query: LogQuery
  #anchor: Anchor | null
  /** The next height; null: not known yet. */
  #next: number | null = null
  /** Time of the previous block. */
  #time = 0
  readonly retryMs = 0

  /** `anchor`: the last block that was read, restored from the fold. */
  constructor(chain: EvmChain, query: LogQuery, anchor: Anchor | null) {
    this.#chain = chain
    this.#query = query
    this.#anchor = anchor
  }

  /** Items from a position up to the newest final block. A later call continues after the last item. */
  async *items(place: StartPosition): AsyncGenerator<SourceItem> {
    this.#next ??= await this.#start(place)
    for (;;) {
      const head = await this.#chain.head()
      if (head && this.#anchor && head.height < this.#anchor.height)
        throw new Error(staleNodeMessage(head.height, this.#anchor.height))
      if (head === null || this.#next > head.height) break
      const page = await this.#chain.logs(this.#next, head.height, this.#query, this.#anchor?.height ?? null)
      this.#compare(page)
      yield* this.#blocks(page)
    }
  }

  async #start(place: StartPosition): Promise<number> {
    if ('height' in place) return place.height
    if ('first' in place) return 0
    this.#time = place.timeMs
    return this.#chain.firstSince(place.timeMs)
  }

  #compare({ anchor, last, logs }: LogPage): void {
    if (this.#anchor && anchor && anchor.hash !== this.#anchor.hash) {
      const { height, hash } = this.#anchor
      throw new FatalPipelineError(
        `Block ${height} of ${this.#chain.name} was ${hash} and is now ${anchor.hash}: a final block has changed. ` +
          'Set execution_start_from to a block before the change; rows of replaced blocks carry the old block_hash',
      )
    }
    const newest = logs.at(-1)
    if (newest?.height === last.height && newest.block_hash !== last.hash)
      throw new Error('The chain changed during the read')
  }

  async *#blocks({ from, to, logs, last }: LogPage): AsyncGenerator<SourceItem> {
    const byHeight = Map.groupBy(logs, ({ height }) => height)
    const untimed = [...byHeight].filter(([, [first]]) => first?.time === null).map(([height]) => height)
    const headers = this.#chain.eachHeader(untimed)
    for (let height = from; height <= to; height++) {
      const own = byHeight.get(height) ?? []
      const [first] = own
      if (height === to) this.#time = last.time
      else if (first) this.#time = first.time ?? (await this.#timeOf(headers, first))
      const hash = first?.block_hash ?? (height === to ? last.hash : null)
      this.#next = height + 1
      if (hash !== null) this.#anchor = { height, hash }
      yield { height, line: JSON.stringify({ height, time: this.#time, hash, logs: own }) }
    }
  }

  async #timeOf(headers: AsyncGenerator<{ hash: string; time: number }>, { block_hash }: EvmLog): Promise<number> {
    const { value } = await headers.next()
    if (value?.hash !== block_hash) throw new Error('The chain changed during the read')
    return value.time
  }
}
