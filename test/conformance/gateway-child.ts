// The gateway as a process of its own, for tests that kill it or read all that it writes.

import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')
export const FEED_TOKEN = 'feed-token-of-the-gateway-child-tests!'
export const ADMIN_TOKEN = 'admin-token-of-the-gateway-child-tests'
export const SECRETS = {
  ADMIN_TOKEN,
  FEED_TOKEN,
  KEY_SECRET: 'key-secret-of-the-gateway-child-tests!',
}

export interface GatewayChild {
  readonly url: string
  readonly process: ChildProcess
  /** Everything it has written to standard output and error. */
  log(): string
  /** Pid of its workerd; undefined while that is being started again. */
  workerd(): number | undefined
  admin(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
  /** Resolves once the process has ended. */
  end(signal: NodeJS.Signals): Promise<void>
}

/** Starts it as the head of a process group; `node` is the URL of an upstream without `/info`. */
export async function startGatewayChild(state: string, port: number, node: string): Promise<GatewayChild> {
  const args = ['--state', state, '--port', String(port), '--node', node]
  const child = spawn(process.execPath, [join(ROOT, 'src/launch/gateway.node.ts'), ...args], {
    cwd: ROOT,
    env: { ...process.env, ...SECRETS },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let log = ''
  const ready = Promise.withResolvers<string>()
  const take = (chunk: Buffer) => {
    log += chunk
    const url = /gateway at (\S+)/.exec(log)?.[1]
    if (url !== undefined) ready.resolve(url)
  }
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  child.once('exit', (code) => ready.reject(new Error(`the gateway ended with ${code}: ${log.slice(-2000)}`)))
  const url = await ready.promise
  return {
    url,
    process: child,
    log: () => log,
    workerd: () => childrenOf(child.pid!).find((pid) => commandOf(pid).includes('workerd')),
    admin: async (method, path, body) => {
      const answer = await fetch(`${url}/admin${path}`, {
        method,
        headers: { authorization: `Bearer ${SECRETS.ADMIN_TOKEN}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return (await answer.json()) as Record<string, unknown>
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      process.kill(-child.pid!, signal)
      await ended
    },
  }
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((each) => statOf(each)[1] === String(pid))
}

/** Fields of /proc/<pid>/stat after the command; empty where the process is gone. */
function statOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
  } catch {
    return []
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}
