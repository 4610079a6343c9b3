import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readDevFile } from '../../src/cli/dev-file.node.ts'
import { KEYS_OPTIONS, keysCommand } from '../../src/cli/keys.node.ts'
import { readArgs } from '../../src/core/command-line.node.ts'
import { hashKey } from '../../src/key/digest.client.ts'

const KEY = `cqt_${'A'.repeat(26)}`
const seen: { method: string; path: string; authorization: string; body: unknown }[] = []
let server: Server
let state: string

/** Stands for the admin API: keeps what it was asked, answers as the API does. */
beforeAll(async () => {
  server = createServer((request, response) => {
    let text = ''
    request.on('data', (piece) => {
      text += piece
    })
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request
      seen.push({
        method,
        path,
        authorization: headers.authorization ?? '',
        body: text === '' ? null : JSON.parse(text),
      })
      const row = { prefix: 'cqt_AAAAAAAA', label: 'L', account: 'demo', kind: 'api' }
      response.statusCode = text.includes('nobody') ? 400 : 200
      const answer =
        response.statusCode === 400
          ? { error: true, error_message: 'account: there is no such account', error_code: '400' }
          : method === 'GET'
            ? { keys: [{ ...row, created: 0, revoked: null, balance: '9.87' }] }
            : { ...row, key: KEY, revoked: 1 }
      response.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  state = await mkdtemp(join(tmpdir(), 'weir-keys-'))
})
afterAll(async () => {
  server.close()
  await rm(state, { recursive: true })
})

const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const target = () => ['--url', url(), '--token', 'T']

async function text(...args: string[]): Promise<string> {
  const read = readArgs(args, KEYS_OPTIONS, 'words too')
  if (!read.ok) return read.error
  const outcome = await keysCommand(read.value.words, read.value.values)
  if (outcome === null) return 'no command'
  return outcome.ok ? outcome.value : `refused: ${outcome.error}`
}

describe('npm run keys', () => {
  it('creates for the demo account, or for one of its own with credits', async () => {
    expect(await text('create', '--label', 'x', ...target())).toContain(KEY)
    expect(seen.at(-1)).toEqual({
      method: 'POST',
      path: '/admin/keys',
      authorization: 'Bearer T',
      body: { label: 'x', account: 'demo' },
    })
    await text('create', '--credits', '5', '--kind', 'service', ...target())
    expect(seen.at(-1)?.body).toEqual({ credits: '5', kind: 'service' })
    expect(await text('create', '--account', 'nobody', ...target())).toBe('refused: account: there is no such account')
  })

  it('lists', async () => {
    const lines = (await text('list', ...target())).split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toMatch(/^cqt_AAAAAAAA +api +demo +9\.87 +1970-01-01T00:00 +active +L$/)
  })

  it('revokes by key without sending it, or by prefix', async () => {
    expect(await text('revoke', KEY, ...target())).toBe('revoked cqt_AAAAAAAA (L)')
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE', path: `/admin/keys/${await hashKey(KEY)}` })
    await text('revoke', 'cqt_AAAAAAAA', ...target())
    expect(seen.at(-1)?.path).toBe('/admin/keys/cqt_AAAAAAAA')
  })

  it('takes URL and token from dev.json, and says what to do where nothing runs', async () => {
    expect(await text('list', '--state', state)).toMatch(/^refused: Nothing runs on .*npm start/)
    const dev = { url: url(), key: KEY, admin_token: 'from the file', feed_token: 'f', pids: { start: 1 } }
    await writeFile(join(state, 'dev.json'), JSON.stringify(dev))
    expect(await text('list', '--state', state)).toContain('cqt_AAAAAAAA')
    expect(seen.at(-1)?.authorization).toBe('Bearer from the file')
    expect(readDevFile(state)).toEqual({ ok: true, value: dev })
    await writeFile(join(state, 'dev.json'), JSON.stringify({ ...dev, pids: {} }))
    expect(readDevFile(state)).toMatchObject({ ok: false, error: expect.stringContaining('Nothing runs') })
    await writeFile(join(state, 'dev.json'), '{')
    expect(readDevFile(state)).toMatchObject({ ok: false, error: expect.stringContaining('damaged') })
  })

  it('is clear about what it does not understand or cannot reach', async () => {
    for (const args of [[], ['make'], ['create', 'x'], ['revoke']]) expect(await text(...args)).toBe('no command')
    expect(await text('list', '--colour', 'red')).toBe('Unknown option "--colour".')
    expect(await text('list', '--url', 'http://127.0.0.1:1', '--token', 'T')).toContain('No gateway answers')
  })
})
