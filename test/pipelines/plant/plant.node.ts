// A gateway whose pipelines a test can reach and that a test can kill, and a feeder that records what it has sent.

import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { build, bundle } from '../../../src/cli/launch/build.node.ts'
import { DEFAULTS, type Pipeline } from '../../../src/pipelines/pipeline.ts'
import type { SinkStatus } from '../../../src/pipelines/sink-api.ts'
import { Gateway, type GatewayProcess, type IssuedKey, startGatewayProgram } from '../../kit/gateway.ts'
import { childOf, lastingPort, ROOT, scratch } from '../../kit/program.ts'
import { BUNDLES } from './bundles.ts'

let built: Promise<void> | null = null

/** Once a process. */
export function buildPlant(): Promise<void> {
  built ??= bundled()
  return built
}

async function bundled(): Promise<void> {
  await build(ROOT)
  for (const part of ['gateway', 'live', 'jobs']) mkdirSync(join(ROOT, BUNDLES, part), { recursive: true })
  for (const part of ['live', 'jobs']) cpSync(join(ROOT, 'dist', part), join(ROOT, BUNDLES, part), { recursive: true })
  await bundle(ROOT, 'wrangler.toml', join(ROOT, BUNDLES, 'gateway'), 'test/pipelines/plant/gateway.worker.ts')
}

export class Plant extends Gateway {
  readonly #folder = scratch()
  readonly #args: readonly string[]
  #process: GatewayProcess | null = null

  /** `chains`: of JSON-RPC. */
  constructor(chains: readonly object[] = [], port = lastingPort()) {
    super(`http://127.0.0.1:${port}`)
    this.#args = [this.#folder.path, String(port), JSON.stringify(chains)]
  }

  async start(): Promise<void> {
    this.#process = await startGatewayProgram('test/pipelines/plant/gateway.node.ts', this.#args)
  }

  /** Miniflare gives up where workerd is killed as it starts. */
  get isOver(): boolean {
    return this.#process?.program.process.exitCode !== null
  }

  /** Its workerd, which Miniflare starts again. */
  killWorkerd(): boolean {
    return killed(this.#process?.workerd())
  }

  /** The process that runs SQL, or its workerd; false where there is none. */
  killSql(which: 'process' | 'workerd'): boolean {
    const sql = childOf(this.#process?.program.process.pid, 'sql.node')
    return killed(which === 'process' ? sql : childOf(sql, 'workerd'))
  }

  /** All of it. */
  async end(): Promise<void> {
    await this.#process?.stop('SIGKILL')
    this.#process = null
  }

  remove(): void {
    this.#folder.remove()
  }

  /** Again and again, until it answers. */
  async sink<Answer>(id: string, call: string, request: object, tries = 200): Promise<Answer> {
    for (let left = tries; ; left--) {
      try {
        const answer = await fetch(`${this.url}/sink/${id}/${call}`, { method: 'POST', body: JSON.stringify(request) })
        if (!answer.ok) throw new Error(`${call}: ${answer.status} ${(await answer.text()).slice(0, 200)}`)
        return (await answer.json()) as Answer
      } catch (error) {
        if (left <= 0) throw error
        await sleep(100)
      }
    }
  }

  /** A service key of a new account with so many credits. */
  owner(credits: string, more: object = {}): Promise<IssuedKey> {
    return this.issue(credits, { kind: 'service', label: 'plant', ...more })
  }

  /** What objects of the bucket hold whose names begin so, in the order of their names. */
  async objects(prefix: string): Promise<string[]> {
    const answer = await fetch(`${this.url}/objects/${prefix}`)
    if (!answer.ok) throw new Error(`${prefix}: ${answer.status}`)
    return (await answer.json()) as string[]
  }

  async apply(pipeline: Pipeline): Promise<SinkStatus> {
    return this.sink(pipeline.id, 'apply', { v: 2, pipeline })
  }

  async statusOf(id: string): Promise<SinkStatus> {
    return this.sink(id, 'status', {})
  }
}

/** A pipeline of fills, but for what `record` says; its key pays. */
export function pipelineOf(
  { account, hash }: Pick<IssuedKey, 'account' | 'hash'>,
  id: string,
  record: Partial<Pipeline> & Pick<Pipeline, 'destination_config'>,
): Pipeline {
  return {
    ...DEFAULTS,
    id,
    name: id,
    account,
    payer: hash,
    payer_name: '',
    revision: 1,
    created_at: '',
    updated_at: '',
    topic: 'fills',
    abi_contract_addresses: [],
    destination_type: record.destination_config.type,
    ...record,
  }
}

function killed(pid: number | undefined): boolean {
  if (pid !== undefined) process.kill(pid, 'SIGKILL')
  return pid !== undefined
}
