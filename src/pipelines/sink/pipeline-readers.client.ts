// Readers of a Sink: archive and log for most topics, chain nodes for `evm_logs`. They cache the newest block and the
// state of a chain.

import type { ArchivedSegment, ArchiveReader, RepairLog } from '../../archive/archive/archive-read.ts'
import { orReject } from '../../core/deadline.ts'
import type { Objects } from '../../core/objects.client.ts'
import { after, sleep } from '../../core/timers.client.ts'
import type { DurablePage, DurableRequest, HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { LOG_API_VERSION } from '../../protocol/feed/log-api.ts'
import type { EventsTarget } from '../../relay/channel.ts'
import { isAllowed, type RpcChain } from '../../rpc/chains.ts'
import { RpcUpstream } from '../../rpc/rpc-upstream.ts'
import { sender } from '../../upstream/upstream.client.ts'
import { readAbi } from '../evm/abi.ts'
import { AbiDecoder } from '../evm/decode.ts'
import { EvmChain } from '../evm/evm-chain.ts'
import { chainOf, queryOf } from '../evm/evm-record.ts'
import type { Pipeline } from '../pipeline.ts'
import { FatalPipelineError } from '../pipeline.ts'
import { selectTopic, type TopicSelection } from '../topics/catalogue.ts'
import { evmFold, readAnchor } from '../topics/evm-logs.ts'
import type { TopicDefinition } from '../topics/topic.ts'
import { Assembler, lastReadBlock, type ReaderState } from './batch-assembler.ts'
import type { BatchInFlight, KnownRepairs, RepairedRange } from './delivery-state.ts'
import { EvmSource } from './evm-source.ts'
import { rereadFold, rereadFrom } from './reread.ts'
import { Source, type StartPosition } from './source.ts'

const TIMEOUT_MS = 30_000
/** The log drops an interest in order statuses or signed actions after twice this time. */
export const INTEREST_MS = 10_000
/** The log retains blocks for five minutes. */
const RECENT_MS = 4 * 60_000
/** Maximum age of the cached newest block. */
const HEAD_CACHE_MS = 2_000

/** Source of a pipeline's blocks. */
export interface PipelineReader {
  /** Throws FatalPipelineError if the record is invalid. */
  assembler(
    pipeline: Pipeline,
    at: ReaderState,
    flight: Pick<BatchInFlight, 'to' | 'ordersFrom'> | null,
    repairs?: KnownRepairs,
  ): Assembler
  /** The first repair of the archive after `id`, or the newest one if `id` is null. Null: none, or none for the topic. */
  repairAfter(pipeline: Pipeline, id: number | null): Promise<RepairedRange | null>
  /** The newest available block, cached briefly; null if there is none. */
  head(pipeline: Pipeline): Promise<HeightAndTime | null>
  /** Position after the newest block; null: unknown. */
  newest(pipeline: Pipeline): Promise<StartPosition | null>
  /** Cached newest block. */
  readonly knownHead: HeightAndTime | null
}

/** Reads the topics of the log. */
export class LogReader implements PipelineReader {
  readonly #objects: Objects
  readonly #archive: (ArchiveReader & RepairLog) | null
  #head: HeightAndTime | null = null
  #headMs = 0

  constructor(objects: Objects, archive: (ArchiveReader & RepairLog) | null) {
    this.#objects = objects
    this.#archive = archive
  }

  assembler(
    pipeline: Pipeline,
    at: ReaderState,
    flight: Pick<BatchInFlight, 'to' | 'ordersFrom'> | null,
    { repair, repairedTo }: KnownRepairs = { repair: null, repairedTo: null },
  ): Assembler {
    const chosen = selectTopic(pipeline)
    if (!chosen.ok) throw FatalPipelineError.of(chosen.error)
    const { definition, interest } = chosen.value
    const { lines, reread } = definition
    const archive = isRepairable(definition) ? this.#archive : null
    const lastRepair = repair?.id ?? repairedTo
    const requested = requestedRows(chosen.value)
    const ports = {
      archive: requested ? null : this.#archive,
      head: () => this.head(pipeline),
      durable: (from: number) => this.#durable(pipeline.id, from, lines === 'books' ? 'books' : 'events', requested),
      ...(archive &&
        lastRepair !== null && {
          isLater: (segment: ArchivedSegment) => archive.isRepairedAfter(lastRepair, segment),
        }),
    }
    const ordersFrom = flight?.ordersFrom ?? null
    const known = flight && ordersFrom !== null ? { to: flight.to, ordersFrom } : null
    const isRecent = Math.abs(Date.now() - at.timeMs) < RECENT_MS
    const source = new Source(ports, lines, known, lastReadBlock(at), isRecent)
    const fold =
      repair && reread ? rereadFold(definition, reread, interest, repair, at.fold) : definition.open(interest, at.fold)
    return new Assembler(source, fold, at, Date.now, repair !== null)
  }

  async repairAfter(pipeline: Pipeline, id: number | null): Promise<RepairedRange | null> {
    const chosen = selectTopic(pipeline)
    if (!chosen.ok || this.#archive === null) return null
    const { definition, interest } = chosen.value
    const { reread } = definition
    const found = isRepairable(definition) ? await this.#archive.repairAfter(id) : null
    if (found === null || id === null || !reread) return found
    return { ...found, readFrom: await rereadFrom(this.#archive, found.from, interest, reread) }
  }

  /** Keeps feeders sending the rows of a pipeline: requests them now and every few seconds until canceled. */
  keepInterest(current: () => Pipeline | null): () => void {
    let cancel: () => void = () => undefined
    const ask = () => {
      const pipeline = current()
      const chosen = pipeline?.status === 'running' ? selectTopic(pipeline) : null
      const requested = chosen?.ok ? requestedRows(chosen.value) : null
      if (!pipeline || !requested) return
      this.#durable(pipeline.id, null, 'events', requested).catch(() => undefined)
      cancel = after(INTEREST_MS, ask)
    }
    ask()
    return () => cancel()
  }

  /** The newest durable block of the log. */
  async head({ id: reader }: Pipeline): Promise<HeightAndTime | null> {
    if (Date.now() - this.#headMs > HEAD_CACHE_MS) await this.#durable(reader, null, 'events', null)
    return this.#head
  }

  /** An empty log is new or was reset. In that case, the archive may contain an older chain. */
  async newest(pipeline: Pipeline): Promise<StartPosition | null> {
    const head = await this.head(pipeline)
    if (head) return { height: head.height + 1 }
    return (await this.#archive?.last()) == null ? { first: true } : null
  }

  get knownHead(): HeightAndTime | null {
    return this.#head
  }

  async #durable(
    reader: string,
    from: number | null,
    kind: 'events' | 'books',
    requested: RequestedRows | null,
  ): Promise<DurablePage> {
    const request = { v: LOG_API_VERSION, reader, from, kind, ...requested }
    const page = await orReject(this.#objects.log().durable(request), TIMEOUT_MS, after)
    this.#head = page.head
    this.#headMs = Date.now()
    return page
  }
}

/** Books, order statuses and signed actions of repaired heights stay unknown. */
const isRepairable = ({ lines }: TopicDefinition) => lines === 'events'

type RequestedRows = Pick<DurableRequest, 'orders' | 'replica'>

/** Rows that feeders send on request: order statuses of wallets, or signed actions. Null if the topic uses neither. */
function requestedRows({ definition: { lines }, interest }: TopicSelection): RequestedRows | null {
  if (lines === 'replica') return { replica: true }
  if (lines !== 'orders' || !interest) return null
  const { channel, body } = interest as EventsTarget
  return { orders: channel.names(body) }
}

/** Reads `evm_logs`. `secrets`: values of the headers of nodes, by the name of the secret. */
export class EvmReader implements PipelineReader {
  readonly #chains: readonly RpcChain[]
  readonly #secrets: object
  readonly #background: (work: Promise<unknown>) => void
  /** The chain that was read last; a different chain replaces it. */
  #open: EvmChain | null = null

  constructor(chains: readonly RpcChain[], secrets: object, background: (work: Promise<unknown>) => void) {
    this.#chains = chains.filter(({ urls }) => urls.length > 0)
    this.#secrets = secrets
    this.#background = background
  }

  assembler(pipeline: Pipeline, at: ReaderState): Assembler {
    const events = readAbi(pipeline.abi_file)
    if (!events.ok) throw FatalPipelineError.of(events.error)
    const chain = this.#chainOf(pipeline)
    const decoder = new AbiDecoder(events.value)
    const query = queryOf(pipeline, decoder.selectors)
    const fold = evmFold(chain.name, decoder, pipeline.abi_unmatched, at.fold)
    return new Assembler(new EvmSource(chain, query, readAnchor(at.fold)), fold, at, Date.now)
  }

  /** The nodes of a chain have all of its blocks. */
  async repairAfter(): Promise<null> {
    return null
  }

  async head(pipeline: Pipeline): Promise<HeightAndTime | null> {
    return this.#chainOf(pipeline).head()
  }

  async newest(pipeline: Pipeline): Promise<StartPosition> {
    const head = await this.head(pipeline)
    return head ? { height: head.height + 1 } : { first: true }
  }

  get knownHead(): HeightAndTime | null {
    return this.#open?.knownHead ?? null
  }

  #chainOf(pipeline: Pipeline): EvmChain {
    const named = chainOf(
      pipeline,
      this.#chains.map(({ name }) => name),
    )
    if (!named.ok) throw FatalPipelineError.of(named.error)
    if (this.#open?.name === named.value) return this.#open
    const config = this.#chains.find(({ name }) => name === named.value)
    if (!config || !isAllowed(config, 'eth_getLogs'))
      throw new FatalPipelineError('filter.chain: the operator does not allow eth_getLogs on this chain')
    const send = sender(config, this.#secrets)
    const ports = { send, now: Date.now, random: Math.random, sleep, background: this.#background }
    const upstream = new RpcUpstream(config, ports)
    this.#open = new EvmChain(config, (calls) => upstream.request(calls), Date.now)
    return this.#open
  }
}
