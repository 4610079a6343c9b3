// The process that runs the SQL of pipelines, as the gateway's process keeps it: started with the first request, started again when
// it has ended, and gone with whoever started it.

import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type convertV4MiniflareOptions, fetch, type Request, Response } from 'miniflare'
import { SQL_TOKEN_HEADER } from '../../pipelines/sql/sql-api.ts'

export type WorkerOptions = Extract<
  Parameters<typeof convertV4MiniflareOptions>[0],
  { workers: unknown }
>['workers'][number]

/** What the program is told over the channel that it must not outlive; it answers its URL. */
export interface SqlOrder {
  readonly worker: WorkerOptions
  readonly state: string
}

const PROGRAM = new URL('./sql.node.ts', import.meta.url)
const START_MS = 30_000
/** One that ends as it starts would keep a core busy with starting. */
const AGAIN_MS = 1_000
const STOP_MS = 3_000

export class SqlProcess {
  readonly #order: () => SqlOrder
  readonly #token = randomBytes(16).toString('hex')
  #child: ChildProcess | null = null
  #url: Promise<string> | null = null
  #startedMs = Number.NEGATIVE_INFINITY

  constructor(order: () => SqlOrder) {
    this.#order = order
  }

  /** Hands a request over. Rejects where the process cannot be started, or ends before it has answered. */
  async fetch(request: Request): Promise<Response> {
    const url = await this.#running()
    const headers = { ...Object.fromEntries(request.headers), [SQL_TOKEN_HEADER]: this.#token }
    const { method, body } = request
    const answer = await fetch(url, { method, headers, ...(body && { body, duplex: 'half' as const }) })
    const { status } = answer
    return new Response(status === 204 ? null : await answer.arrayBuffer(), { status })
  }

  async stop(): Promise<void> {
    const child = this.#child
    if (child === null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await Promise.race([ended, sleep(STOP_MS, undefined, { ref: false })])
    child.kill('SIGKILL')
  }

  #running(): Promise<string> {
    this.#url ??= this.#start().catch((error) => {
      this.#url = null
      throw error
    })
    return this.#url
  }

  async #start(): Promise<string> {
    await sleep(Math.max(0, this.#startedMs + AGAIN_MS - performance.now()))
    this.#startedMs = performance.now()
    const child = fork(PROGRAM, [], { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    this.#child = child
    child.once('exit', () => {
      if (this.#child === child) this.#child = this.#url = null
    })
    const { worker, state } = this.#order()
    child.send({ state, worker: { ...worker, bindings: { ...worker.bindings, SQL_TOKEN: this.#token } } })
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), START_MS)
      child.once('message', (url) => {
        clearTimeout(timer)
        resolve(String(url))
      })
      child.once('exit', () => reject(new Error('the process that runs SQL ended as it started')))
    })
  }
}
