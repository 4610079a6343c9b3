// `npx weir doctor` as a program, against a stand-in for node and gateway: what it asks, what it leaves behind, how it ends.

import { execFile } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type HttpServer, startServer } from '../../kit/http-server.ts'
import { MAIN } from '../../kit/program.ts'

const TOKEN = 'the-one-feed-token-that-the-stand-in-for-a-gateway-takes'
let server: HttpServer
let url: string
let folder: string
let height = 100
let readiness: [number, unknown] = [200, { state: 'live', advice: '' }]

/** A block in every stream that a feeder needs. */
function writeBlock(): void {
  const time = new Date().toISOString().slice(0, 23)
  height++
  for (const stream of ['node_fills_by_block', 'node_raw_book_diffs_by_block', 'misc_events_by_block']) {
    const hour = join(folder, 'data', stream, 'hourly/20261122')
    mkdirSync(hour, { recursive: true })
    appendFileSync(
      join(hour, '10'),
      `{"local_time":"${time}","block_time":"${time}","block_number":${height},"events":[]}\n`,
    )
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-doctor-'))
  server = await startServer(async (request, response) => {
    const asked = JSON.parse((await text(request)) || 'null')
    const [status, body] = answer(request.url ?? '', request.headers.authorization, asked)
    response.writeHead(status).end(JSON.stringify(body))
  })
  url = server.url
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

function answer(
  path: string,
  authorization: string | undefined,
  body: { type?: string; outPath?: string } | null,
): [number, unknown] {
  if (body?.type === 'fileSnapshot') writeFileSync(body.outPath!, '[1,[]]')
  if (body?.type === 'exchangeStatus') return [200, { time: Date.now() }]
  if (path === '/feed') return [authorization === `Bearer ${TOKEN}` ? 426 : 401, {}]
  if (path === '/status/ready') return readiness
  if (path === '/status/live') return [200, { live: true }]
  const known = { chain: 'hyperliquid', state: 'live', advice: '', feedRegion: null, booksKnown: true, readers: [] }
  return [
    200,
    path === '/status'
      ? { ...known, height, lagMs: 100, feeders: [{ name: 'here', conflict: null, connected: true, sinceMs: 0 }] }
      : null,
  ]
}

function doctor(args: readonly string[], FEED_TOKEN = TOKEN): Promise<{ code: number; out: string; lines: string[] }> {
  const env = { ...process.env, FEED_TOKEN, ADMIN_TOKEN: '' }
  return new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'doctor', ...args], { env }, (error, out, said) =>
      resolve({ code: error ? Number(error.code) : 0, out: out + said, lines: out.trim().split('\n') }),
    )
  })
}
const host = () => ['--data', join(folder, 'data'), '--info', url, '--gateway', url]
const states = (lines: readonly string[]) => lines.map((line) => line.slice(0, 18).replace(/ +/, ' ').trim())

it('reports a healthy host and leaves no files behind', async () => {
  writeBlock()
  const node = setInterval(writeBlock, 100)
  const { code, lines, out } = await doctor(host()).finally(() => clearInterval(node))
  const files = Array.from({ length: 4 }, () => 'node files')
  const names = [...files, 'node http', 'snapshots', 'gateway', 'feed token', 'disk']
  // A busy machine may be late, which is said; nothing fails.
  expect(states(lines).map((state) => state.replace(/^(?:ok|warn) /, ''))).toEqual(names)
  expect(lines[0]).toMatch(/ at block \d+, \d+\.\d blocks\/s/)
  expect([code, out.includes(TOKEN)]).toEqual([0, false])
  expect(existsSync(join(folder, 'feeder'))).toBe(false)
})

it('fails if a token is wrong or nothing responds', async () => {
  const wrong = await doctor(['--gateway', url, '--json'], 'a-wrong-feed-token')
  const { checks } = JSON.parse(wrong.out)
  expect(checks).toContainEqual(expect.objectContaining({ name: 'feed token', state: 'FAIL', fix: expect.any(String) }))
  expect([wrong.code, wrong.out.includes('a-wrong-feed-token')]).toEqual([1, false])
  const nobody = await doctor(['--info', 'http://127.0.0.1:1', '--gateway', 'http://127.0.0.1:1'])
  expect([nobody.code, states(nobody.lines)]).toEqual([1, ['FAIL node http', 'FAIL gateway']])
})

it('probes with one line and an exit code', async () => {
  const probe = async (what: string, gateway = url) => {
    const { code, out } = await doctor(['--probe', what, '--gateway', gateway])
    return [code, out]
  }
  expect(await probe('live')).toEqual([0, `ok    live         ${url}/status/live\n`])
  expect(await probe('ready')).toEqual([0, `ok    ready        ${url}/status/ready\n`])
  readiness = [503, { state: 'no_feeder', advice: 'Start a feeder.' }]
  expect(await probe('ready')).toEqual([1, 'FAIL  ready        the feed is no_feeder. Start a feeder.\n'])
  readiness = [429, { error: true }]
  expect(await probe('ready')).toEqual([1, `FAIL  ready        ${url}/status/ready responds with status 429\n`])
  expect((await probe('live', 'http://127.0.0.1:1'))[0]).toBe(1)
  expect((await doctor(['--probe', 'ready', '--state', join(folder, 'none')])).out).toMatch(
    /^FAIL .*No gateway is running/,
  )
  expect((await probe('up'))[0]).toBe(2)
})

it.each(['a-secret\nof-two-lines', 'a-secret\r\nof-windows', 'a-secret—copied-from-a-page'])(
  'shows nothing of a token that no header can carry (%j)',
  async (token) => {
    const { code, out, lines } = await doctor(['--gateway', url], token)
    expect([code, out]).toEqual([1, expect.not.stringContaining('a-secret')])
    expect(lines).toContainEqual(expect.stringMatching(/^FAIL +feed token +it contains a space/))
  },
)

it('names files of npx weir demo that are invalid or unreadable', async () => {
  const state = join(folder, 'odd')
  mkdirSync(join(state, 'secrets.json'), { recursive: true })
  const ran = {
    url,
    key: 'k',
    service_key: 's',
    admin_token: TOKEN,
    feed_token: TOKEN,
    metrics_token: TOKEN,
    wallet_key: '0x1',
  }
  writeFileSync(join(state, 'running.json'), JSON.stringify({ ...ran, pids: { start: process.pid } }))
  writeFileSync(join(state, 'ports.json'), '{}')
  const { code, lines } = await doctor(['--state', state])
  expect([code, lines.slice(0, 2).map((line) => /(?<=odd.)\S+ is damaged/.exec(line)?.[0])]).toEqual([
    1,
    ['secrets.json is damaged', 'ports.json is damaged'],
  ])
})

it('checks the state folder of npx weir demo', async () => {
  const state = join(folder, 'state')
  mkdirSync(state)
  const ran = {
    url,
    key: 'k',
    service_key: 's',
    admin_token: 'a',
    feed_token: TOKEN,
    metrics_token: TOKEN,
    wallet_key: '0x1',
  }
  writeFileSync(join(state, 'running.json'), JSON.stringify({ ...ran, pids: {} }))
  writeFileSync(join(state, 'ports.json'), '{')
  const stopped = await doctor(['--state', state])
  expect([stopped.code, states(stopped.lines)]).toEqual([1, ['FAIL processes', 'FAIL processes']])
  expect(stopped.lines[0]).toContain('ports.json is damaged')
  writeFileSync(join(state, 'ports.json'), '{"gateway":1,"devnet":2}')
  const secrets = Object.fromEntries(['ADMIN_TOKEN', 'FEED_TOKEN', 'KEY_SECRET'].map((name) => [name, 'a'.repeat(32)]))
  const tokens = { ...secrets, key: 'cqt_', serviceKey: 'cqs_' }
  writeFileSync(join(state, 'secrets.json'), JSON.stringify(tokens))
  const gone = await doctor(['--state', state])
  expect([gone.code, states(gone.lines)]).toEqual([1, ['FAIL processes', 'FAIL state']])
  expect(gone.lines[1]).toMatch(/databases of accounts and keys/)
  for (const part of ['d1', 'do/weir-live-CreditMeter']) {
    mkdirSync(join(state, 'gateway/v3', part), { recursive: true })
    writeFileSync(join(state, 'gateway/v3', part, '1.sqlite'), '')
  }
  expect(states((await doctor(['--state', state])).lines)).toContain('ok state')
  writeFileSync(
    join(state, 'running.json'),
    JSON.stringify({ ...ran, pids: { start: process.pid, feeder: 2 ** 22 + 1 } }),
  )
  const { lines } = await doctor(['--state', state])
  expect(lines).toContainEqual(expect.stringMatching(/^FAIL +processes +not running: feeder 4194305\. See .*log/))
})

it.each(['nonsense', 'http://me:secret@127.0.0.1:1'])('rejects an invalid address (%s)', async (address) => {
  const { code, out } = await doctor(['--info', address])
  expect([code, out]).toEqual([2, expect.stringContaining('must be a URL')])
})
