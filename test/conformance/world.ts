// A whole gateway for black-box tests: the built Workers in workerd behind a real socket, on storage of their own.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startGatewayProcess } from '../../src/launch/gateway-process.node.ts'

const ROOT = join(import.meta.dirname, '../..')
export const ADMIN_TOKEN = 'admin-token-of-the-conformance-tests'
export const FEED_TOKEN = 'feed-token-of-the-conformance-tests!'
export const KEY_SECRET = 'key-secret-of-the-conformance-tests!'

export interface World {
  readonly url: string
  /** Of every instance of the gateway Worker. */
  readonly urls: readonly string[]
  readonly ws: string
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: Record<string, unknown> }>
  /** A key of a new account with so many credits. */
  newKey(credits: string, more?: Record<string, unknown>): Promise<string>
  info(key: string | null, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Stops workerd; with `keep` its storage stays for another `startWorld({ state })`. */
  stop(keep?: boolean): Promise<void>
  readonly state: string
}

/** Starts a gateway on a free port. */
export async function startWorld(
  options: {
    upstream?: string
    state?: string
    vars?: Record<string, string>
    liveVars?: Record<string, string>
    instances?: number
  } = {},
): Promise<World> {
  const state = options.state ?? mkdtempSync(join(tmpdir(), 'weir-'))
  const upstreams = options.upstream ? [{ name: 'node', url: options.upstream }] : []
  const { url, urls, dispose } = await startGatewayProcess({
    root: ROOT,
    state,
    port: 0,
    instances: options.instances ?? 1,
    secrets: { ADMIN_TOKEN, FEED_TOKEN, KEY_SECRET },
    vars: {
      PATH_KEYS: 'on',
      TRUST_PROXY: 'off',
      PIPELINE_PRIVATE: 'on',
      UPSTREAMS: JSON.stringify(upstreams),
      ...options.vars,
    },
    liveVars: { PIPELINE_PRIVATE: 'on', ...options.liveVars },
  })
  const admin: World['admin'] = async (method, path, body) => {
    const answer = await fetch(`${url}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }
  return {
    url,
    urls,
    ws: url.replace('http', 'ws'),
    state,
    admin,
    newKey: async (credits, more = {}) => {
      const { status, body } = await admin('POST', '/keys', { credits, label: 'test', ...more })
      if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(body)}`)
      return body.key as string
    },
    info: (key, body, headers = {}) =>
      fetch(`${url}/info`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    stop: async (keep = false) => {
      await dispose()
      if (!keep) rmSync(state, { recursive: true, force: true })
    },
  }
}

/** An upstream that answers as `listener` says; `close` ends it. */
export async function startUpstream(listener: RequestListener): Promise<{ url: string; close: () => void }> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${port}/info`, close }
}
