// What a Sink reads for a pipeline of `evm_logs`: the nodes of a chain, whose state it keeps from one batch to the next.

import { sleep } from '../../core/timers.client.ts'
import type { HeightAndTime } from '../../protocol/feed/durable-api.ts'
import { isAllowed, type RpcChain } from '../../rpc/chains.ts'
import { RpcUpstream } from '../../rpc/rpc-upstream.ts'
import { post } from '../../upstream/upstream.client.ts'
import { CannotRun } from '../cannot-run.ts'
import { readAbi } from '../evm/abi.ts'
import { AbiDecoder } from '../evm/decode.ts'
import { EvmChain } from '../evm/evm-chain.ts'
import { chainOf, queryOf } from '../evm/evm-record.ts'
import type { Pipeline } from '../pipeline.ts'
import { evmFold, readAnchor } from '../topics/evm-logs.ts'
import { Assembler, type Standing } from './assembling.ts'
import { EvmSource } from './evm-source.ts'
import type { Reads } from './reading.client.ts'
import type { Place } from './source.ts'

export class EvmReading implements Reads {
  readonly #chains: readonly RpcChain[]
  readonly #background: (work: Promise<unknown>) => void
  /** What is read last; another one is opened anew. */
  #open: EvmChain | null = null

  constructor(chains: readonly RpcChain[], background: (work: Promise<unknown>) => void) {
    this.#chains = chains.filter(({ urls }) => urls.length > 0)
    this.#background = background
  }

  assembler(pipeline: Pipeline, at: Standing): Assembler {
    const events = readAbi(pipeline.abi_file)
    if (!events.ok) throw new CannotRun(`${events.error.path}: ${events.error.message}`)
    const chain = this.#chainOf(pipeline)
    const decoder = new AbiDecoder(events.value)
    const query = queryOf(pipeline, decoder.selectors)
    const fold = evmFold(chain.name, decoder, pipeline.abi_unmatched, at.fold)
    return new Assembler(new EvmSource(chain, query, readAnchor(at.fold)), fold, at, Date.now)
  }

  async head(pipeline: Pipeline): Promise<HeightAndTime | null> {
    return this.#chainOf(pipeline).head()
  }

  async newest(pipeline: Pipeline): Promise<Place> {
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
    if (!named.ok) throw new CannotRun(`${named.error.path}: ${named.error.message}`)
    if (this.#open?.name === named.value) return this.#open
    const config = this.#chains.find(({ name }) => name === named.value)!
    if (!isAllowed(config, 'eth_getLogs')) throw new CannotRun('filter.chain: the operator does not allow eth_getLogs')
    const ports = { send: post, now: Date.now, random: Math.random, sleep, background: this.#background }
    const upstream = new RpcUpstream(config, ports)
    this.#open = new EvmChain(config, (calls) => upstream.ask(calls), Date.now)
    return this.#open
  }
}
