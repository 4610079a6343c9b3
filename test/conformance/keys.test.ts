// Credits and keys under load, and the command line that creates them, on real sockets.

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ADMIN_TOKEN, startWorld, type World } from '../kit/gateway.ts'
import { type HttpServer, startServer } from '../kit/http-server.ts'
import { MAIN, scratch } from '../kit/program.ts'

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

describe('an account', () => {
  /** Answered from memory: the source of the tests shares a process with a thousand callers, and could be late. */
  const KEPT = { type: 'meta' }
  beforeAll(async () => {
    expect((await world.info(await world.newKey('1'), KEPT)).status).toBe(200)
  })

  /** 200 or 402: where the machine is too slow for a thousand calls, one that ran out of time cost nothing. */
  const decided = async (key: string): Promise<number> => {
    for (;;) {
      const status = await statusOf(await world.info(key, KEPT))
      if (status !== 503 && status !== 504) return status
    }
  }

  it('gets exactly credits ÷ price responses with 64 concurrent requests, then 402', async () => {
    const key = await world.newKey('500')
    const counts = new Map<number, number>()
    const worker = async () => {
      for (let refused = 0; refused < 3; ) {
        const status = await decided(key)
        counts.set(status, (counts.get(status) ?? 0) + 1)
        if (status !== 200) refused++
      }
    }
    await Promise.all(Array.from({ length: 64 }, worker))
    expect([...counts].sort()).toEqual([
      [200, 500],
      [402, 3 * 64],
    ])
  })

  it('with 100 credits gets exactly 100 responses for 1,000 concurrent calls, ten times', async () => {
    for (let round = 0; round < 10; round++) {
      const key = await world.newKey('100')
      const statuses = await Promise.all(Array.from({ length: 1000 }, () => decided(key)))
      const count = (wanted: number) => statuses.filter((status) => status === wanted).length
      expect(count(200)).toBe(100)
      expect(count(402)).toBe(900)
    }
  })

  it('loses no call while its key is rotated under load', async () => {
    const old = await world.newKey('100000', { plan: 'enterprise' })
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
      const args = [MAIN, program, ...line, '--url', world.url]
      const child = spawn(process.execPath, args, { env: { ...process.env, ADMIN_TOKEN } })
      const said = { out: '', err: '' }
      child.stdout.on('data', (piece) => (said.out += piece))
      child.stderr.on('data', (piece) => (said.err += piece))
      child.once('close', (code) => resolve({ code, ...said }))
    })

  it('creates an account with credits once and prints only a working key', async () => {
    const bad = await run('keys', 'create', '--account', 'by-hand', '--label', '\u001b[2J')
    expect([bad.code, bad.out, bad.err.includes('\u001b')]).toEqual([1, '', false])
    const label = '<b> by "hand"'
    const make = ['create', '--account', 'by-hand', '--credits', '7', '--label', label]
    const made = await run('keys', ...make)
    expect([made.code, made.out]).toEqual([0, expect.stringMatching(/^cqt_\w{26}\n$/)])
    expect(made.err).toContain('account by-hand (plan trial, 7 credits)')
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

  it('exports, imports and reconciles accounts', async () => {
    const exported = await run('admin', 'export')
    const line = exported.out.split('\n').find((one) => one.includes('"account":"by-hand"'))
    expect(JSON.parse(line ?? '')).toMatchObject({ plan: 'trial', keys: [{ kind: 'api' }] })
    const file = join(scratch().path, 'accounts.jsonl')
    writeFileSync(file, `${line}\n`)
    // Its meter is in use.
    expect(await run('admin', 'import', file)).toMatchObject({ code: 1, out: 'imported 0 accounts\n' })
    writeFileSync(
      file,
      `${line?.replace('"account":"by-hand"', '"account":"moved"').replace(/"keys":\[.*\]/, '"keys":[]')}\n`,
    )
    const imported = await run('admin', 'import', file)
    expect(imported).toMatchObject({ code: 0, out: 'imported 1 accounts\n' })
    const { differences, checked } = JSON.parse((await run('admin', 'reconcile', '--apply', '--json')).out)
    expect(checked).toBe(exported.out.trim().split('\n').length + 1)
    expect(differences.filter(({ account }: { account: string }) => ['by-hand', 'moved'].includes(account))).toEqual([])
  })

  it('distinguishes replaced and active keys', async () => {
    const made = await run('keys', 'create', '--account', 'rotated')
    const rotated = await run('admin', 'key', 'rotate', made.out.trim(), '--grace', '1')
    expect(rotated).toMatchObject({ code: 0, out: expect.stringMatching(/^cqt_\w{26}\n$/) })
    const states = async () => {
      const { out } = await run('keys', 'list', 'rotated')
      return [/replaced, expired/.test(out), / active$/m.test(out)]
    }
    await expect.poll(states, { timeout: 10_000 }).toEqual([true, true])
  })
})
