// A gateway whose pipelines a test can reach, which can be killed, and a feeder that knows what it has sent.

import { type ChildProcess, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import type { Block } from '../../../src/feed/block.ts'
import type { GatewayFrame } from '../../../src/feed/protocol.ts'
import { build, bundle } from '../../../src/launch/build.node.ts'
import type { Pipeline } from '../../../src/pipeline/pipeline.ts'
import type { SinkStatus } from '../../../src/pipeline/sink-api.ts'
import { BUNDLES, FEED_TOKEN } from './bundles.ts'

const ROOT = join(import.meta.dirname, '../../..')

let built: Promise<void> | null = null

/** Once a process. */
export function buildPlant(): Promise<void> {
  built ??= bundled()
  return built
}

async function bundled(): Promise<void> {
  await build(ROOT)
  for (const part of ['gateway', 'live']) mkdirSync(join(ROOT, BUNDLES, part), { recursive: true })
  cpSync(join(ROOT, 'dist/live'), join(ROOT, BUNDLES, 'live'), { recursive: true })
  await bundle(ROOT, 'wrangler.toml', join(ROOT, BUNDLES, 'gateway'), 'test/pipeline/plant/gateway.worker.ts')
}

interface Owner {
  readonly key: string
  readonly hash: string
  readonly account: string
}

export class Plant {
  readonly #state: string
  readonly #port: number
  readonly #chains: string
  #child: ChildProcess | null = null

  /** `chains`: of JSON-RPC. */
  constructor(state: string, port: number, chains: readonly object[] = []) {
    this.#state = state
    this.#port = port
    this.#chains = JSON.stringify(chains)
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    const args = [join(import.meta.dirname, 'gateway.node.ts'), this.#state, String(this.#port), this.#chains]
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
    this.#child = child
    await new Promise<void>((resolve, reject) => {
      child.stdout!.on('data', (line) => String(line).includes('gateway at') && resolve())
      child.once('exit', (code) => reject(new Error(`the gateway ended with ${code}`)))
    })
  }

  /** Miniflare gives up where workerd is killed as it starts. */
  get isOver(): boolean {
    return this.#child?.exitCode !== null
  }

  /** Its workerd, which Miniflare starts again. */
  killWorkerd(): boolean {
    const pid = childOf(this.#child?.pid, 'workerd')
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    return pid !== undefined
  }

  /** The process that runs SQL, or its workerd; false where there is none. */
  killSql(which: 'process' | 'workerd'): boolean {
    const sql = childOf(this.#child?.pid, 'sql.node')
    const pid = which === 'process' ? sql : childOf(sql, 'workerd')
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
    return pid !== undefined
  }

  /** All of it. */
  async end(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    this.#child = null
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    process.kill(-child.pid!, signal)
    await ended
  }

  /** Again and again, until it answers. */
  async ask<Answer>(id: string, call: string, request: object, tries = 200): Promise<Answer> {
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

  /** An account with so many credits, and a key of it, for services where `more` says nothing else. */
  async owner(credits: string, more: object = {}): Promise<Owner> {
    const { key, hash, account } = await this.admin<Owner>('/keys', {
      credits,
      kind: 'service',
      label: 'plant',
      ...more,
    })
    return { key, hash, account }
  }

  /** What the operator asks; with a body he changes something. */
  async admin<Answer>(path: string, body?: object): Promise<Answer> {
    const answer = await fetch(`${this.url}/admin${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { authorization: `Bearer ${FEED_TOKEN}`, 'content-type': 'application/json' },
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${(await answer.text()).slice(0, 200)}`)
    return (await answer.json()) as Answer
  }

  /** What objects of the bucket hold whose names begin so, in the order of their names. */
  async objects(prefix: string): Promise<string[]> {
    const answer = await fetch(`${this.url}/objects/${prefix}`)
    if (!answer.ok) throw new Error(`${prefix}: ${answer.status}`)
    return (await answer.json()) as string[]
  }

  async apply(pipeline: Pipeline): Promise<SinkStatus> {
    return this.ask(pipeline.id, 'apply', { v: 2, pipeline })
  }

  async status(id: string): Promise<SinkStatus> {
    return this.ask(id, 'status', {})
  }
}

/** With this in its command line. */
function childOf(parent: number | undefined, name: string): number | undefined {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((pid) => {
      const isChild = read(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ')[1] === String(parent)
      return isChild && read(`/proc/${pid}/cmdline`).includes(name)
    })
}

/** Sends blocks up to a head, from wherever the log stands, over as many connections as it takes. */
export class Feeder {
  readonly #url: string
  readonly #first: number
  readonly #blockOf: (height: number) => Block
  readonly #coins: readonly string[]
  #head: number
  #acked = -1
  #socket: WebSocket | null = null
  #isOver = false

  constructor(url: string, first: number, blockOf: (height: number) => Block, coins: readonly string[] = ['BTC']) {
    this.#coins = coins
    this.#url = url.replace('http', 'ws')
    this.#first = first
    this.#head = first
    this.#blockOf = blockOf
    void this.#run()
  }

  get acked(): number {
    return this.#acked
  }

  /** Blocks up to this height exist from now on. */
  advance(head: number): void {
    const from = this.#head + 1
    this.#head = head
    for (let height = from; height <= head; height++) this.#block(height)
  }

  end(): void {
    this.#isOver = true
    this.#socket?.terminate()
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const socket = new WebSocket(`${this.#url}/feed`, { headers: { authorization: `Bearer ${FEED_TOKEN}` } })
      const ended = new Promise<void>((resolve) => {
        socket.on('close', () => resolve())
        socket.on('error', () => resolve())
      })
      socket.on('open', () =>
        this.#say(socket, {
          type: 'hello',
          protocol: 1,
          chain: 'hyperliquid',
          feeder: 'plant',
          first: this.#first,
          head: this.#head,
        }),
      )
      socket.on('message', (data) => this.#heard(socket, JSON.parse(String(data)) as GatewayFrame))
      await ended
      this.#socket = null
      socket.terminate()
      await sleep(200)
    }
  }

  #heard(socket: WebSocket, frame: GatewayFrame): void {
    if (frame.type === 'ack') this.#acked = Math.max(this.#acked, frame.height)
    if (frame.type === 'reseed') this.#seed(socket, this.#head)
    if (frame.type === 'error' || frame.type === 'conflict') throw new Error(JSON.stringify(frame))
    if (frame.type === 'resend') for (let height = frame.from; height <= this.#head; height++) this.#block(height)
    if (frame.type !== 'welcome') return
    const last = frame.height ?? this.#first
    if (frame.epoch === null) this.#seed(socket, last)
    this.#socket = socket
    for (let height = last + 1; height <= this.#head; height++) this.#block(height)
  }

  #seed(socket: WebSocket, height: number): void {
    const levels = [[{ px: '1', sz: '1', n: 1 }], []]
    const { time } = this.#blockOf(height)
    this.#say(socket, {
      type: 'snapshot',
      scope: 'all',
      height,
      time,
      books: this.#coins.map((coin) => ({ coin, levels })),
    })
  }

  #block(height: number): void {
    if (this.#socket) this.#say(this.#socket, { type: 'block', ...this.#blockOf(height) })
  }

  #say(socket: WebSocket, frame: object): void {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
  }
}
