// First steps of a newcomer, in a folder whose name has a space and a non-ASCII letter: every command of package.json,
// run by npm on a copy of this tree. Packages are linked; only the last test has none.

import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SYSTEM_ENV } from '../kit/system-env.ts'
import { copyTree } from '../kit/tree-copy.ts'

const ROOT = join(import.meta.dirname, '../..')
// On the disk of the packages, which are linked. `npm test` has its temporary files in memory.
const parent = mkdtempSync(join(process.env.TMPDIR?.startsWith('/dev/shm') ? '/var/tmp' : tmpdir(), 'weir-fresh-'))
const folder = join(parent, 'my weir é')

const CEILING_MS = 300_000

interface Outcome {
  readonly code: number | null
  readonly text: string
}

function npm(args: readonly string[], env: Record<string, string> = {}, heard = (_: string, __: () => void) => {}) {
  const child = spawn('npm', args, { cwd: folder, env: { ...SYSTEM_ENV, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (piece) => {
      text += piece
      heard(text, () => child.kill('SIGTERM'))
    })
  return new Promise<Outcome>((resolve) => child.on('close', (code) => resolve({ code, text })))
}

beforeAll(() => {
  copyTree(folder)
})
afterAll(() => rmSync(parent, { recursive: true, force: true }))

const UNKNOWN = /^error: unknown option '--nope'\n/

/** Arguments of each command that make it show in short that it runs, its exit code, and what it then says. */
const COMMANDS: Readonly<Record<string, readonly [args: string, code: number, says: RegExp]>> = {
  test: [
    '--project pure --project workers test/cli/launch/args.test.ts test/block-log/feed-route.worker.test.ts',
    0,
    /\d+ passed, 0 failed\s*$/,
  ],
  check: ['settings', 0, /ok\s+settings of the Workers/],
  format: ['src/cli/launch', 0, /Checked \d+ files.*No fixes applied/],
  generate: ['--check', 0, /^\s*$/],
  build: ['', 0, /^\s*$/],
  'build:programs': ['', 0, /weir-feeder-\d/],
  'build:python': ['', 0, /\.whl/],
  'build:client': ['', 0, /\.tgz: \d+ kB, unpacked \d+ kB\s*$/],
  bench: ['--nope', 2, UNKNOWN],
  crash: ['--nope', 2, UNKNOWN],
  rehearse: ['--nope', 2, UNKNOWN],
  soak: ['--nope', 2, UNKNOWN],
  sim: ['--nope', 2, UNKNOWN],
  laws: ['--nope', 2, UNKNOWN],
  mutants: ['--nope', 2, UNKNOWN],
  release: ['--nope', 2, UNKNOWN],
}

/** Lines after `npx weir`. */
const LINES: Readonly<Record<string, readonly [code: number, says: RegExp]>> = {
  '--version': [0, /^\d+\.\d+\.\d+\s*$/],
  'keys list': [1, /"npx weir demo"/],
  'backfill --from 1 src': [1, /"npx weir demo"/],
  'devnet --help': [0, /--keep-mb/],
  'deploy --nope': [2, UNKNOWN],
}

/** Commands that other tests run in a folder of an ordinary name, most of them test/core/command-line.test.ts. */
const PLAYED = [
  'test',
  'build',
  'build:client',
  'generate',
  'bench',
  'crash',
  'rehearse',
  'soak',
  'sim',
  'laws',
  'mutants',
]

describe('in a folder of any name, from a system’s Node', () => {
  it('the table lists every command', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: object }
    const names = Object.keys(scripts).filter((name) => !name.startsWith('pre'))
    expect(['start', ...Object.keys(COMMANDS)].sort()).toEqual(names.sort())
  })

  it.for(Object.entries(COMMANDS))(
    'npm run %s',
    { timeout: CEILING_MS },
    async ([name, [args, code, says]], { skip }) => {
      skip(PLAYED.includes(name) && process.env.REHEARSAL === undefined, 'a part of npm run rehearse')
      const outcome = await npm(['run', '--silent', name, '--', ...args.split(' ').filter(Boolean)])
      expect(outcome).toEqual({ code, text: expect.stringMatching(says) })
    },
  )

  it.for(Object.entries(LINES))('npx weir %s', { timeout: CEILING_MS }, async ([line, [code, says]]) => {
    const outcome = await npm(['exec', '--', 'weir', ...line.split(' ')])
    expect(outcome).toEqual({ code, text: expect.stringMatching(says) })
  })

  it(
    'npm start serves a book and the pages it names, and ends on SIGTERM',
    async () => {
      let asked: Promise<number[]> | null = null
      const outcome = await npm(['start', '--silent'], { PORT: '0' }, (text, end) => {
        const [, url] = /Weir is ready at (\S+)/.exec(text) ?? []
        const [, key] = /WEIR_KEY=(\S+)/.exec(text) ?? []
        if (!url || !key || asked || !text.includes('Ctrl-C')) return
        asked = ask(url, key, text).finally(end)
      })
      expect(await asked, outcome.text).toEqual([200, 200, 200, 200, 0])
      expect(outcome.text).not.toContain('workerd ended')
      expect(existsSync(join(folder, '.weir/secrets.json'))).toBe(true)
      expect(existsSync(join(folder, '.weir/lock.json'))).toBe(false)
      // Where a percent-encoded path would have put them.
      expect(readdirSync(parent)).toEqual(['my weir é'])
    },
    CEILING_MS,
  )
})

/** Statuses of a book, a call of the chain and the two pages, and the exit code of the command that makes a key. */
async function ask(url: string, key: string, announced: string): Promise<number[]> {
  const body = JSON.stringify({ type: 'l2Book', coin: 'BTC' })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const book = fetch(`${url}/info`, { method: 'POST', headers, body })
  const height = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber' })
  const chain = fetch(`${url}/v1/hyperliquid`, { method: 'POST', headers, body: height })
  const pages = [book, chain, fetch(`${url}/docs`), fetch(`${url}/status`)]
  const [, create = ''] = /^ {2}npx (weir keys .+)$/m.exec(announced) ?? []
  const { code } = await npm(['exec', '--', ...create.split(' ')])
  return [...(await Promise.all(pages)).map(({ status }) => status), code ?? -1]
}

it(
  'without packages and network, a command reports what is missing',
  async () => {
    rmSync(join(folder, 'node_modules'), { recursive: true })
    // Nothing listens at the end of the loopback.
    const nowhere = {
      npm_config_registry: 'http://127.0.0.1:9/',
      npm_config_fetch_retries: '0',
      npm_config_cache: join(parent, 'cache'),
    }
    const { code, text } = await npm(['run', '--silent', 'build'], nowhere)
    expect([code, text]).toEqual([
      1,
      expect.stringMatching(/Installing packages[\s\S]*run the same command again\.\s*$/),
    ])
  },
  CEILING_MS,
)
