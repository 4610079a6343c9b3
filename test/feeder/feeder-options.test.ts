import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { feederOptions } from '../../src/feeder/feeder-options.node.ts'
import { type FolderListing, layoutError } from '../../src/feeder/node-files.node.ts'
import type { StreamName } from '../../src/feeder/streams.ts'

const TOKEN = 'feed-token-of-thirty-two-letters'
const GOOD = { data: 'hl/data', info: 'http://127.0.0.1:3001', gateway: 'wss://weir.example', token: TOKEN }
const read = (more: object = {}, env = {}, host = 'my-laptop.local') => feederOptions({ ...GOOD, ...more }, env, host)

it('has defaults, absolute paths, and the token from the environment', () => {
  expect(read({ token: undefined }, { FEED_TOKEN: TOKEN })).toEqual({
    ok: true,
    value: {
      dataDir: resolve('hl/data'),
      infoUrl: GOOD.info,
      gatewayUrl: GOOD.gateway,
      token: TOKEN,
      chain: 'hyperliquid',
      name: expect.any(String),
      verifyMs: 600_000,
      checkpointMs: 30_000,
      stateDir: resolve('hl/feeder'),
      snapshotDir: resolve('hl/feeder/snapshots'),
    },
  })
  const seconds = { 'verify-seconds': '86400', 'checkpoint-seconds': '1' }
  expect(read({ ...seconds, name: 'tokyo-1' })).toMatchObject({
    value: { verifyMs: 86_400_000, checkpointMs: 1_000, name: 'tokyo-1' },
  })
})

it('has a stable default name that differs per state folder and does not contain the host’s name', () => {
  const nameOf = (more = {}, host?: string) => {
    const options = read(more, {}, host)
    return options.ok ? options.value.name : options.error
  }
  expect(nameOf()).toMatch(/^feeder-[0-9a-f]{6}$/)
  expect(nameOf()).toBe(nameOf())
  expect(new Set([nameOf(), nameOf({ state: 'elsewhere' }), nameOf({}, 'another')]).size).toBe(3)
})

it.each([
  [{ data: undefined }, '--data'],
  [{ info: 'localhost:3001' }, '--info'],
  [{ info: 'ws://127.0.0.1' }, '--info'],
  [{ gateway: 'ftp://x' }, '--gateway'],
  [{ token: TOKEN.slice(1) }, '--token'],
  [{ token: `${TOKEN}\n` }, '--token'],
  [{ token: undefined }, 'FEED_TOKEN (or --token)'],
  [{ chain: 'x'.repeat(33) }, '--chain'],
  [{ name: 'a b' }, '--name'],
  [{ name: 'x'.repeat(65) }, '--name'],
  ...['0', '86401'].flatMap((value) =>
    ['verify-seconds', 'checkpoint-seconds'].map((name): [object, string] => [{ [name]: value }, `--${name}`]),
  ),
])('%j is rejected by the name of the option', (wrong, error) => {
  expect(read(wrong)).toEqual({ ok: false, error: expect.stringContaining(`${error} `) })
})

it('rejects a short token from the environment and names the variable', () => {
  const error = expect.stringMatching(/^FEED_TOKEN .*32/)
  expect(read({ token: undefined }, { FEED_TOKEN: 'x' })).toEqual({ ok: false, error })
})

const FILLS = 'node_fills_by_block'
const DIFFS = 'node_raw_book_diffs_by_block'
const holds = (...entries: string[]): FolderListing => ({ entries })
const BOTH: readonly StreamName[] = ['diffs', 'fills']

it.each<[FolderListing, readonly StreamName[], string]>([
  [{ failed: 'ENOENT' }, BOTH, '/d does not exist'],
  [{ failed: 'ENOTDIR' }, BOTH, '/d is a file'],
  [{ failed: 'EACCES' }, BOTH, 'EACCES'],
  [holds(), BOTH, '/d is empty'],
  [holds('lost+found'), BOTH, '--write-raw-book-diffs --write-fills --batch-by-block'],
  [holds('data', 'bin'), BOTH, 'folder named data'],
  [holds('node_fills', 'node_raw_book_diffs'), BOTH, 'node_raw_book_diffs, node_fills'],
  [holds('node_fills', DIFFS), ['fills'], '--batch-by-block'],
  [holds(FILLS), ['diffs'], '--write-raw-book-diffs'],
  [holds(DIFFS), ['fills'], '--write-fills'],
  [holds(FILLS, DIFFS), ['fills'], `${FILLS} of /d`],
  [holds(FILLS, DIFFS), BOTH, `${DIFFS}, ${FILLS}`],
])('a folder %j with %j missing is explained', (listing, empty, words) => {
  expect(layoutError('/d', listing, empty)).toContain(words)
})
