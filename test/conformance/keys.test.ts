// Keys and credits at every surface, over real sockets.

import { spawn } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { Socket } from '../kit/socket.ts'

let world: World
let upstream: HttpServer
beforeAll(async () => {
  upstream = await startServer((_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"time":1,"specialStatuses":null}')
  })
  world = await startWorld({ node: upstream.url })
})
afterAll(async () => {
  await world.stop()
  upstream.close()
})

const CALL = { type: 'exchangeStatus' }
/** The body is read too: unread ones keep their connections. */
async function statusOf(response: Response): Promise<number> {
  await response.arrayBuffer()
  return response.status
}

describe('a key', () => {
  it('that is revoked while it is used is refused everywhere', async () => {
    const key = await world.newKey('10')
    expect((await world.info(key, CALL)).status).toBe(200)
    expect((await world.admin('DELETE', `/keys/${key.slice(0, 12)}`)).status).toBe(200)
    await expect.poll(async () => (await world.info(key, CALL)).status, { timeout: 35_000 }).toBe(401)
    await expect(Socket.open(`${world.ws}/ws?key=${key}`)).rejects.toMatchObject({ status: 401 })
  })
})

describe('a key’s knowledge of itself', () => {
  it('is its usage, its balance and its limits, over HTTP', async () => {
    const key = await world.newKey('10')
    for (let i = 0; i < 3; i++) expect((await world.info(key, CALL)).status).toBe(200)
    const ask = async (path: string) => {
      const answer = await world.call('GET', `/platform/${path}`, key)
      return { status: answer.status, body: (await answer.json()) as { data: Record<string, unknown> } }
    }
    expect((await ask('key/')).body.data).toMatchObject({ balance: '7', plan: 'trial' })
    // The isolate reports within two seconds what is much of what is left.
    const consumed = async () => ((await ask('usage/')).body.data?.totals as { credits: string })?.credits
    await expect.poll(consumed, { timeout: 10_000, interval: 500 }).toBe('3')
    expect((await ask('usage/?duration=7')).status).toBe(400)
  })
})

describe('a service key', () => {
  it('manages the pipelines of its account, whose secrets nobody reads', async () => {
    const manager = await world.newKey('1', { kind: 'service', plan: 'professional' })
    const stranger = await world.newKey('1', { kind: 'service' })
    const ask = async (method: string, path: string, key: string, body?: object) => {
      const answer = await world.call(method, `/platform/pipeline-api/${path}`, key, body)
      return { status: answer.status, body: (await answer.json()) as { data: { id: string; items: object[] } } }
    }
    const destination_config = { type: 'webhook', url: 'https://example.com/', secret: `whsec_${'QUJD'.repeat(8)}` }
    const order = { name: 'one', topic: 'fills', destination_config, status: 'paused' }
    const { status, body } = await ask('POST', '', manager, order)
    expect([status, body.data]).toEqual([201, expect.objectContaining({ name: 'one', status: 'paused' })])
    const shown = { ...destination_config, secret: '******' }
    expect((await ask('GET', `${body.data.id}/`, manager)).body.data).toMatchObject({ destination_config: shown })
    expect((await ask('GET', '', manager)).body.data.items).toHaveLength(1)
    const path = `${body.data.id}/`
    expect((await ask('PUT', path, stranger, { status: 'paused' })).status).toBe(404)
    expect((await ask('PUT', path, await world.newKey('1'), { status: 'paused' })).status).toBe(403)
    const phase = async () => (await ask('GET', `${path}status/`, manager)).body.data
    expect(await phase()).toMatchObject({ status: 'paused', in_step: true, phase: 'paused' })
    for (const state of ['running', 'running', 'paused', 'paused', 'running']) {
      const put = await ask('PUT', path, manager, { status: state, name: 'two', colour: 1 })
      expect([put.status, put.body.data]).toEqual([200, expect.objectContaining({ status: state, name: 'one' })])
    }
    expect(await phase()).toMatchObject({ status: 'running', in_step: true, phase: 'backfilling' })
    expect((await ask('PUT', path, manager, { status: 'stopped' })).status).toBe(400)
    const transforms = { mine: 'DELETE FROM fills' }
    const refused = await ask('PATCH', path, manager, { transforms })
    expect([refused.status, refused.body]).toEqual([
      400,
      expect.objectContaining({ error_message: expect.stringMatching(/^transforms\.mine: /) }),
    ])
    const plain = { ...destination_config, url: 'https://somebody:secret@example.com/' }
    expect((await ask('PATCH', path, manager, { destination_config: plain })).status).toBe(400)
    expect((await ask('POST', '', manager, { ...order, topic: 'evm_logs' })).status).toBe(400)
    expect((await ask('DELETE', path, manager)).status).toBe(200)
    expect((await ask('PUT', path, manager, { status: 'running' })).status).toBe(404)
  })
})

describe('an account', () => {
  /** Answered from memory: the source of the tests shares a process with a thousand callers, and could be late. */
  const KEPT = { type: 'meta' }
  beforeAll(async () => {
    expect((await world.info(await world.newKey('1'), KEPT)).status).toBe(200)
  })

  it('buys exactly credits ÷ price answers with 64 requests in flight, then 402', async () => {
    const key = await world.newKey('500')
    const statuses: number[] = []
    const worker = async () => {
      for (let refused = 0; refused < 3; ) {
        const { status } = await world.info(key, KEPT)
        statuses.push(status)
        if (status !== 200) refused++
      }
    }
    await Promise.all(Array.from({ length: 64 }, worker))
    expect(statuses.filter((status) => status === 200)).toHaveLength(500)
    expect(new Set(statuses.filter((status) => status !== 200))).toEqual(new Set([402]))
  })

  /** 200 or 402: where the machine is too slow for a thousand calls, one that ran out of time cost nothing. */
  const decided = async (key: string): Promise<number> => {
    for (;;) {
      const status = await statusOf(await world.info(key, KEPT))
      if (status !== 503 && status !== 504) return status
    }
  }

  it('of 100 credits gives exactly 100 answers to 1,000 calls at once, ten accounts in a row', async () => {
    for (let round = 0; round < 10; round++) {
      const key = await world.newKey('100')
      const statuses = await Promise.all(Array.from({ length: 1000 }, () => decided(key)))
      const count = (wanted: number) => statuses.filter((status) => status === wanted).length
      expect(count(200)).toBe(100)
      expect(count(402)).toBe(900)
    }
  })

  it('loses no call while its key is rotated under load', async () => {
    const old = await world.newKey('100000')
    let key = old
    let isOver = false
    const statuses: number[] = []
    const caller = async () => {
      while (!isOver) statuses.push(await statusOf(await world.info(key, CALL)))
    }
    const callers = Array.from({ length: 16 }, caller)
    const calls = (count: number) => expect.poll(() => statuses.length, { timeout: 20_000 }).toBeGreaterThan(count)
    await calls(200)
    const rotated = await world.admin('POST', `/keys/${old.slice(0, 12)}/rotate`, { grace_seconds: 600 })
    expect(rotated.status).toBe(201)
    // For a while old and new are in use at once, as they are while a caller's machines are told one by one.
    await calls(statuses.length + 200)
    key = String(rotated.body.key)
    await calls(statuses.length + 400)
    isOver = true
    await Promise.all(callers)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await statusOf(await world.info(old, CALL))).toBe(200)
  })
})

describe('the command line', () => {
  const run = (program: string, ...line: string[]) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const args = [`src/cli/${program}.node.ts`, ...line, '--url', world.url]
      const child = spawn(process.execPath, args, { env: { ...process.env, ADMIN_TOKEN } })
      const said = { out: '', err: '' }
      child.stdout.on('data', (piece) => (said.out += piece))
      child.stderr.on('data', (piece) => (said.err += piece))
      child.once('close', (code) => resolve({ code, ...said }))
    })

  it('makes an account with credits once, and prints a key that works, alone', async () => {
    const bad = await run('keys', 'create', '--account', 'by-hand', '--label', '\u001b[2J')
    expect([bad.code, bad.out, bad.err.includes('\u001b')]).toEqual([1, '', false])
    const label = '<b> by "hand"'
    const make = ['create', '--account', 'by-hand', '--credits', '7', '--label', label]
    const made = await run('keys', ...make)
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^cqt_\w{26}\n$/)])
    expect(made.err).toContain('made account by-hand (plan trial, 7 credits)')
    const used = await world.info(made.out.trim(), CALL)
    expect([used.status, used.headers.get('x-credits-remaining')]).toEqual([200, '6'])
    expect(await run('keys', ...make)).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('account grant'),
    })
    expect(await run('keys', 'create', '--account', 'by-hand2', '--ranges', '192.0.2.1/8')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^--ranges: has bits beyond its prefix/),
    })
    expect(await world.admin('GET', '/accounts/by-hand2')).toMatchObject({ status: 404 })
    const listed = await run('admin', 'account', 'show', 'by-hand')
    expect(listed.out).toContain(label)
    expect(JSON.parse((await run('keys', 'list', 'by-hand', '--json')).out)).toMatchObject({
      keys: [{ label }],
    })
  })

  it('tells a key that was replaced from one that works', async () => {
    const made = await run('keys', 'create', '--account', 'rotated')
    const rotated = await run('admin', 'key', 'rotate', made.out.trim(), '--grace', '1')
    expect(rotated).toMatchObject({ code: 0, out: expect.stringMatching(/^cqt_\w{26}\n$/) })
    const states = async () => {
      const { out } = await run('keys', 'list', 'rotated')
      return [/replaced, ended/.test(out), / active$/m.test(out)]
    }
    await expect.poll(states, { timeout: 10_000 }).toEqual([true, true])
  })
})
