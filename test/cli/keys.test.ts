import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hashKey } from '../../src/accounts/digest.client.ts'
import { PRODUCTS_OF_KIND } from '../../src/accounts/key-record.ts'
import { keysProgram } from '../../src/cli/keys.node.ts'
import { readRunning } from '../../src/cli/running-file.node.ts'
import { refusal, say, startStub } from './stub.ts'

const KEY = `cqt_${'A'.repeat(26)}`
const ROW = { prefix: 'cqt_AAAAAAAA', label: 'L', account: 'demo', kind: 'api' }
const TIMES = { created: 0, expires: null, revoked: null, last_used: null, replaced_by: null }
const BOUNDS = { products: PRODUCTS_OF_KIND.api, cap: null, cap_remaining: null, ranges: null }
const accounts = new Set<string>()
/** What the next keys are refused with. */
let refused: string | null = null
let stub: Awaited<ReturnType<typeof startStub>>
let state: string

beforeAll(async () => {
  stub = await startStub(({ call, body }) => {
    const [, id = ''] = /^\w+ \/admin\/accounts\/(\w+)/.exec(call) ?? []
    if (call.startsWith('GET /admin/accounts')) {
      return accounts.has(id) ? [200, {}] : refusal(404, 'This account does not exist.')
    }
    if (call.startsWith('PUT')) {
      const isNew = !accounts.has(id)
      accounts.add(id)
      return [isNew ? 201 : 200, { account: id, created: isNew, balance: '500' }]
    }
    if (call.startsWith('GET')) return [200, { keys: [{ ...ROW, ...TIMES, ...BOUNDS, balance: '9.87' }] }]
    if (call.startsWith('DELETE')) return [200, { ...ROW, revoked: 1 }]
    const { account = 'acct_new' } = body as { account?: string }
    if (refused !== null) return refusal(400, refused)
    const isThere = accounts.has(account) || account === 'acct_new'
    return isThere
      ? [201, { ...ROW, account, key: KEY }]
      : refusal(400, 'account: there is no such account: create it first')
  })
  state = await mkdtemp(join(tmpdir(), 'weir-keys-'))
})
afterAll(async () => {
  stub.stop()
  await rm(state, { recursive: true })
})
beforeEach(() => {
  accounts.clear()
  accounts.add('demo')
  refused = null
  stub.seen.length = 0
})

const keys = (...line: string[]) => say(keysProgram, [...line, '--url', stub.url], { ADMIN_TOKEN: 'T' })
const calls = () => stub.seen.map(({ call }) => call)

describe('keys create', () => {
  it('prints the key alone, and details to standard error', async () => {
    expect(await keys('create', '--label', 'x')).toEqual({
      out: [KEY],
      notes: [expect.stringMatching(/^account demo; /)],
      failed: false,
    })
    expect(stub.seen.at(-1)).toEqual({
      call: 'POST /admin/keys',
      body: { label: 'x', account: 'demo' },
      authorization: 'Bearer T',
    })
  })

  it('creates a missing account and reports it', async () => {
    expect(await keys('create', '--account', 'acme', '--credits', '500', '--plan', 'entry', '--region', 'sam')).toEqual(
      {
        out: [KEY],
        notes: ['created account acme (plan entry, 500 credits)', expect.stringMatching(/^account acme; /)],
        failed: false,
      },
    )
    expect(stub.seen.find(({ call }) => call === 'PUT /admin/accounts/acme')?.body).toEqual({
      credits: '500',
      plan: 'entry',
      region: 'sam',
    })
    accounts.delete('demo')
    expect((await keys('create')).notes[0]).toBe('created account demo (plan trial, 500 credits)')
  })

  it('rejects credits for an existing account, and adds neither key nor credits', async () => {
    const { out, notes, failed } = await keys('create', '--account', 'demo', '--credits', '5')
    expect([out, failed]).toEqual([[], true])
    expect(notes[0]).toContain('npx weir admin account grant demo 5 --id')
    expect(calls()).toEqual(['GET /admin/accounts/demo'])
  })

  it('creates no account for an invalid key', async () => {
    refused = 'products.0: must be among info, stream; cap: must not be negative'
    expect(await keys('create', '--account', 'acme', '--products', 'gold')).toEqual({
      out: [],
      notes: ['--products: must be among info, stream; --cap: must not be negative'],
      failed: true,
    })
    expect(accounts.has('acme')).toBe(false)
  })

  it('creates an account with a generated name if only credits are passed', async () => {
    await keys('create', '--credits', '5', '--kind', 'service')
    expect(stub.seen.map(({ call, body }) => [call, body])).toEqual([
      ['POST /admin/keys', { credits: '5', kind: 'service' }],
    ])
  })

  it('sends an empty label, which removes the label, and rejects invalid values', async () => {
    await keys('create', '--label', '')
    expect(stub.seen.at(-1)?.body).toEqual({ label: '', account: 'demo' })
    stub.seen.length = 0
    for (const line of [
      ['--credits', 'many'],
      ['--cap', '-1'],
      ['--expires', '1'],
      ['--label', '--credits'],
      ['--account', ''],
    ]) {
      const { out, notes, failed } = await keys('create', ...line)
      expect([out, failed, calls()]).toEqual([[], true, []])
      expect(notes[0]).toContain(`error: option '${line[0]} <`)
    }
  })
})

describe('keys', () => {
  it('lists keys as a table, or as the response of the gateway', async () => {
    const { out } = await keys('list')
    expect(out[0]?.split('\n')[1]).toMatch(/^cqt_AAAAAAAA +api +demo +9\.87 +1970-01-01T00:00Z +never +active +L$/)
    expect(JSON.parse((await keys('list', '--json')).out.join(''))).toMatchObject({ keys: [ROW] })
    await keys('list', 'demo')
    expect(calls().at(-1)).toBe('GET /admin/keys?account=demo')
  })

  it('revokes a key by its hash or prefix, without sending the key', async () => {
    expect((await keys('revoke', KEY)).out).toEqual(['revoked cqt_AAAAAAAA (L)'])
    expect(calls()).toEqual([`DELETE /admin/keys/${await hashKey(KEY)}`])
    await keys('revoke', 'cqt_AAAAAAAA')
    expect(calls().at(-1)).toBe('DELETE /admin/keys/cqt_AAAAAAAA')
  })

  it('reads URL and token from running.json, and says what to do if nothing is running', async () => {
    const here = async () => {
      const { out, notes } = await say(keysProgram, ['list', '--state', state], { ADMIN_TOKEN: 'of another' })
      return [...out, ...notes].join('\n')
    }
    expect(await here()).toMatch(/npx weir demo/)
    const tokens = {
      service_key: 'cqs_S',
      admin_token: 'from-the-file',
      feed_token: 'f',
      metrics_token: 'm',
      wallet_key: '0x1',
    }
    const dev = { url: stub.url, key: KEY, ...tokens, pids: { start: 1 } }
    await writeFile(join(state, 'running.json'), JSON.stringify(dev))
    expect(await here()).toContain('cqt_AAAAAAAA')
    expect(stub.seen.at(-1)?.authorization).toBe('Bearer from-the-file')
    expect(readRunning(state)).toEqual({ ok: true, value: dev })
    // On whatever port it runs.
    const { out } = await say(keysProgram, ['env', '--state', state], {})
    expect(out).toEqual([`export WEIR_URL=${stub.url} WEIR_KEY=${KEY} WEIR_SERVICE_KEY=cqs_S`])
    await writeFile(join(state, 'running.json'), JSON.stringify({ ...dev, url: 'http://127.0.0.1:1' }))
    expect(await here()).toContain('http://127.0.0.1:1 (bad port)')
    await writeFile(join(state, 'running.json'), JSON.stringify({ ...dev, pids: {} }))
    expect(readRunning(state)).toMatchObject({ ok: false, error: expect.stringContaining('npx weir demo') })
    const nothing = await say(keysProgram, ['env', '--state', state], {})
    expect([nothing.out, nothing.notes[0]]).toEqual([[], expect.stringMatching(/npx weir demo/)])
    await writeFile(join(state, 'running.json'), '{')
    expect(readRunning(state)).toMatchObject({ ok: false, error: expect.stringContaining('damaged') })
  })

  it('sends a token only to its own gateway', async () => {
    const { notes } = await say(keysProgram, ['list', '--url', stub.url])
    expect(notes).toEqual([expect.stringMatching(/ADMIN_TOKEN.*--token/)])
    await say(keysProgram, ['list', '--url', stub.url, '--token', 'said'], { ADMIN_TOKEN: 'T' })
    expect(stub.seen.map(({ authorization }) => authorization)).toEqual(['Bearer said'])
  })
})
