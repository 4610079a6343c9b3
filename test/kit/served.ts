// `weir serve` beside a devnet and a feeder, as an operator runs it on one machine.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Program, run } from './program.ts'
import { until } from './until.ts'

export interface Devnet {
  readonly url: string
  readonly data: string
  readonly process: Program
}

export async function startDevnet(folder: string): Promise<Devnet> {
  const data = join(folder, 'node')
  const process = run('devnet', ['--data', data, '--port', '0', '--json'])
  const { url } = JSON.parse(await process.line((line) => line.startsWith('{'))) as { url: string }
  return { url, data, process }
}

export interface Served {
  readonly url: string
  readonly process: Program
}

interface ServeOptions {
  /** URL of its node. */
  readonly node?: string
  readonly env?: Record<string, string>
}

export async function startServe(state: string, port: number, { node, env }: ServeOptions = {}): Promise<Served> {
  const args = ['--state', state, '--port', String(port), '--json', ...(node === undefined ? [] : ['--node', node])]
  const process = run('serve', args, env)
  const { url } = JSON.parse(await process.line((line) => line.startsWith('{'))) as { url: string }
  return { url, process }
}

export function startFeeder(folder: string, devnet: Devnet, gateway: string, feedToken: string): Program {
  const args = ['--data', devnet.data, '--info', devnet.url, '--gateway', gateway, '--state', join(folder, 'feeder')]
  return run('feed', args, { FEED_TOKEN: feedToken })
}

export interface ServeSecrets {
  readonly ADMIN_TOKEN: string
  readonly FEED_TOKEN: string
}

export function secretsOf(state: string): ServeSecrets {
  return JSON.parse(readFileSync(join(state, 'secrets.json'), 'utf8')) as ServeSecrets
}

interface FeedStatus {
  readonly state: string
  readonly height: number | null
  readonly durable: number | null
  readonly epoch: string | null
  readonly gaps?: readonly unknown[]
  readonly feeders: readonly { readonly lagMs: number | null }[]
}

export async function statusOf(url: string): Promise<FeedStatus> {
  return (await (await fetch(`${url}/status`)).json()) as FeedStatus
}

export async function untilLive(url: string): Promise<void> {
  await until(async () => (await statusOf(url)).state === 'live', `${url} is not live`, { withinMs: 60_000 })
}

/** Calls the admin API. */
export async function admin<T>(url: string, { ADMIN_TOKEN }: ServeSecrets, path: string, body?: object): Promise<T> {
  const response = await fetch(`${url}/admin${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Asks for the book of BTC, and returns the status and the price in credits. */
export async function paidCall(
  url: string,
  key: string,
): Promise<{ readonly status: number; readonly cost: string | null }> {
  const response = await fetch(`${url}/info`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'l2Book', coin: 'BTC' }),
  })
  await response.arrayBuffer()
  return { status: response.status, cost: response.headers.get('x-credits-cost') }
}
