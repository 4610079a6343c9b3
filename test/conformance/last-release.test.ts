// The promise that consecutive releases work together: Workers, feeder, client and state of the last release with those of
// today. LAST_RELEASE names another git reference to compare with, such as a commit.

import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { createClient } from '../../src/client/create-client.client.ts'
import { Gateway, SECRETS, startExchange, startWorld } from '../kit/gateway.ts'
import { lastingPort, type Program, ROOT, run, runCommand, scratch } from '../kit/program.ts'
import { Socket } from '../kit/socket.ts'
import { until } from '../kit/until.ts'
import { lastRelease, MIXTURES, previousBundles, previousSource } from '../rehearsal/previous.node.ts'

const ref = process.env.LAST_RELEASE ?? lastRelease()
if (ref === null) console.error('SKIPPED: the last release beside this version: no tag of a release before this commit')

/** The last release is built first. */
const TIMEOUT_MS = 600_000
const WAIT = { withinMs: 120_000, everyMs: 100 }
const CREDITS = 1_000

/** Starts `weir` of a version. A version builds its Workers if their sources changed. */
function weir(root: string, ...args: readonly string[]): Program {
  const program = runCommand(process.execPath, [join(root, 'packages/weir/bin/weir.js'), ...args], SECRETS, {
    cwd: root,
  })
  onTestFinished(() => program.end())
  return program
}

/** `weir serve` of a version on a state folder. Returns once it serves. */
async function serve(root: string, state: string, port: number, node: string) {
  const program = weir(root, 'serve', '--state', state, '--port', `${port}`, '--node', node, '--json')
  const { url } = JSON.parse(await program.line((line) => line.startsWith('{'))) as { url: string }
  return { program, gateway: new Gateway(url) }
}

/** A paid call, and frames of three blocks. */
async function expectService(gateway: Gateway, key: string): Promise<void> {
  await until(async () => (await gateway.info(key, { type: 'allMids' })).ok, 'there are no books', WAIT)
  const answer = await gateway.info(key, { type: 'l2Book', coin: 'BTC' })
  expect([answer.status, answer.headers.get('x-credits-cost')]).toEqual([200, '1'])
  const socket = await Socket.open(`${gateway.ws}/ws?key=${key}`)
  socket.send({ method: 'subscribe', subscription: { type: 'l2BookDiff2', coin: 'BTC' } })
  for (let i = 0; i < 3; i++) await socket.next(({ channel }) => channel === 'l2BookDiff2', 60_000)
  socket.close()
}

async function balanceOf(gateway: Gateway, key: string): Promise<number> {
  const answer = await gateway.call('GET', '/platform/key', key)
  return Number(((await answer.json()) as { data: { balance: string } }).data.balance)
}

async function clientOf(root: string, url: string, key: string) {
  const module = (await import(join(root, 'src/client/create-client.client.ts'))) as {
    createClient: typeof createClient
  }
  const client = module.createClient({ url, key, WebSocket })
  onTestFinished(client.close)
  return client
}

describe.skipIf(ref === null)(`${ref} beside this version`, { timeout: TIMEOUT_MS }, () => {
  it.each(MIXTURES)('works with the %s of the last release and the other Workers of today', async (old) => {
    const bundles = previousBundles(ref!)
    onTestFinished(bundles.remove)
    const exchange = await startExchange({ gateway: (node) => startWorld({ node, bundles: bundles.mixed(old) }) })
    onTestFinished(exchange.stop)
    await expectService(exchange.gateway, exchange.key)
  })

  it('continues with the state, the feeder and a client of the last release', async () => {
    const previous = previousSource(ref!)
    const { path, remove } = scratch()
    onTestFinished(remove)
    const data = join(path, 'node')
    const state = join(path, 'state')
    const port = lastingPort() + 3
    const devnet = run('devnet', ['--data', data, '--port', '0', '--json'])
    onTestFinished(() => devnet.end())
    const { url: node } = JSON.parse(await devnet.line((line) => line.startsWith('{'))) as { url: string }

    const before = await serve(previous, state, port, node)
    const feeder = weir(previous, 'feed', '--data', data, '--info', node, '--gateway', before.gateway.url)
    const key = await before.gateway.newKey(`${CREDITS}`)
    await expectService(before.gateway, key)
    const client = await clientOf(previous, before.gateway.url, key)
    const stream = client.subscribe({ type: 'l2BookDiff2', coin: 'BTC' })
    const events: string[] = []
    const reading = (async () => {
      for await (const { type } of stream) events.push(type)
    })()
    const isFed = () => events.at(-1) === 'data'
    await until(isFed, 'the client of the last release gets no blocks', WAIT)
    const { height: written } = await before.gateway.status()
    await before.program.end()

    const after = await serve(ROOT, state, port, node)
    await expectService(after.gateway, key)
    const isNewer = async () => ((await after.gateway.status()).height ?? 0) > (written ?? Number.POSITIVE_INFINITY)
    await until(isNewer, 'the feeder of the last release sends no blocks after the update', WAIT)
    // The second acknowledgment is that of the new connection.
    const isResumed = () => isFed() && events.filter((type) => type === 'live').length > 1
    await until(isResumed, 'the client of the last release gets no blocks after the update', WAIT)
    expect(events).not.toContain('end')
    expect(feeder.process.exitCode).toBeNull()
    const balance = await balanceOf(after.gateway, key)
    expect(balance).toBeGreaterThan(CREDITS / 2)
    expect(balance).toBeLessThan(CREDITS)
    client.close()
    await reading
  })
})
