// Runs the guides as a reader does: every shell block in order and every program as printed, on `npm start`. Only
// the port, the state folder and the calls through npm differ.

import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../../src/cli/launch/processes.node.ts'
import { docsPages } from '../../src/http/docs/site/write-docs.node.ts'
import { SLOW_BLOCKS } from '../kit/gateway.ts'
import { MAIN, type Program, run, runCommand, scratch } from '../kit/program.ts'

const ROOT = join(import.meta.dirname, '../..')
const folder = scratch()
const state = join(folder.path, 'state')
let launch: Program
let url: string

beforeAll(async () => {
  launch = run('demo', ['--state', state, '--json', ...SLOW_BLOCKS], { PORT: '0' })
  url = JSON.parse(await launch.line((line) => line.startsWith('{'), 120_000)).url
}, 150_000)
afterAll(async () => {
  await launch?.end()
  folder.remove()
})

const has = (command: string) => spawnSync(command, ['--version']).status === 0
const missing = ['bash', 'curl', 'python3'].filter((command) => !has(command))
if (missing.length > 0) console.log(`guides are not followed: there is no ${missing.join(', ')}`)

/** What each guide must have printed, in this order. */
const GUIDES: Readonly<Record<string, readonly RegExp[]>> = {
  'README.md': [/"coin":"BTC"/],
  'get-started.md': [
    /^cqt_\w{26}$/m,
    /"levels":\[\[\{/,
    /^x-credits-cost: 1/im,
    /did you mean .*coin|coin: is required/,
    /BTC \d+(\.\d+)? ETH \d/,
    /BTC \d+(\.\d+)? ETH \d/,
    /\d+ trades, the last at \d/,
    /"balance":/,
    /"by_type":/,
  ],
  'guides/order-books.md': [/^no book|^\d+(\.\d+)? × /m, /block \d+$/m, /the checksum is right/],
  'guides/pipelines.md': [
    /pipe_\w+$/m,
    /\d+ rows, such as \{/,
    /"phase":/,
    /"estimate":\{/,
    /"backfill":\{"id":"pipe_/,
    /"status":"paused"/,
  ],
  'guides/history-files.md': [],
  // Its programs need backtesters; export.test.ts reads the files.
  'guides/backtests.md': [],
  'guides/use-from-an-ai-agent.md': [/"credits_cost":"1"/],
  'guides/pay-per-call.md': [
    /'network': 'eip155:\d+'.* \d+ calls/,
    /^HTTP\/1\.1 402/m,
    /"code":"payment_required"/,
    /"levels":\[\[\{/,
    /"levels":\[\[\{/,
    /"balance":/,
  ],
  'guides/webhooks.md': [/the signature is valid/],
  'guides/alerts.md': [/^alr_/m, /"type":"alert.test"/],
  'guides/team.md': [],
  'guides/auto-top-up.md': [],
  'guides/migrate.md': [/"universe":/, /"BTC":"/, /"result":"0x/],
  'operators/run-your-own.md': [/"state":/, /twenty/, /acme/, /"time":\d+/],
  // Last, because the archive has its first blocks after a minute.
  'guides/replay.md': [/complete up to block \d+$/m, /"chain":"hyperliquid"/, /replay ended after \d+ trades$/m],
}

it.skipIf(missing.length > 0)(
  'code of reference pages runs in each language, stream code in TypeScript',
  async () => {
    const key = spawnSync(process.execPath, [MAIN, 'keys', '--state', state, 'create'], {
      encoding: 'utf8',
    }).stdout.trim()
    const env = { WEIR_URL: url, WEIR_KEY: key }
    const pages = docsPages(ROOT)
    const codeOf = (address: string) =>
      blocksOf(pages.find((page) => page.address === address)!.markdown.split('\n## Code\n')[1]!)
    const programs = {
      bash: ['bash', '-c'],
      ts: [process.execPath, '--input-type=module-typescript', '-e'],
      python: ['python3', '-c'],
    }
    for (const [address, wanted] of [
      ['/docs/info/l2Book', /levels/],
      ['/docs/rest/ownKey', /balance/],
      ['/docs/rpc/methods', /0x/],
    ] as const) {
      const blocks =
        address === '/docs/rpc/methods'
          ? blocksOf(pages.find((page) => page.address === address)!.markdown)
          : codeOf(address)
      for (const { language, text } of blocks.slice(0, 3)) {
        const [program, ...args] = programs[language as keyof typeof programs]
        const ran = spawnSync(program!, [...args, text], { env: { ...process.env, ...env }, encoding: 'utf8' })
        expect([address, language, ran.status, ran.stdout]).toEqual([
          address,
          language,
          0,
          expect.stringMatching(wanted),
        ])
      }
    }
    const stream = codeOf('/docs/channels/trades').find(({ language }) => language === 'ts')!
    const [program, ...args] = programs.ts
    const follower = runCommand(program!, [...args, stream.text], env)
    await follower.line((line) => line.includes('"channel":"trades"'))
    await follower.end()
  },
  60_000,
)

it.skipIf(missing.length > 0).each(Object.keys(GUIDES))(
  '%s works as it is written',
  async (guide) => {
    const place = join(folder.path, guide.replaceAll(/\W/g, '-'))
    mkdirSync(place)
    symlinkSync(join(ROOT, 'examples'), join(place, 'examples'))
    const blocks = blocksOf(readFileSync(join(ROOT, 'docs', guide), 'utf8'))
    for (const { language, text } of blocks) {
      const [, file] = /^(?:\/\/|#) ([\w.-]+)$/m.exec(text.split('\n')[0]!) ?? []
      if (language !== 'bash') writeFileSync(join(place, file ?? `no name in ${guide}`), text)
    }
    const port = String(await freePort(undefined))
    const shell = blocks.filter(({ language }) => language === 'bash').map(({ text }) => text.replaceAll('9000', port))
    const script = `set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${shell.map(asHere).join('\n')}\n`
    writeFileSync(join(place, 'guide.sh'), script)
    const followed = runCommand('bash', ['-c', `cd '${place}' && bash guide.sh && echo; echo "exit $?"`])
    expect(await followed.line((line) => line.startsWith('exit '), 150_000), followed.lines.join('\n')).toBe('exit 0')
    let said = followed.lines.join('\n')
    for (const wanted of GUIDES[guide]!) {
      expect(said).toMatch(wanted)
      said = said.slice(said.search(wanted) + 1)
    }
  },
  180_000,
)

it('every guide is tested', () => {
  const guides = readFileSync(join(ROOT, 'docs/README.md'), 'utf8').match(/guides\/[\w-]+\.md/g)!
  expect([...new Set(guides)].filter((guide) => !(guide in GUIDES))).toEqual([])
})

interface Block {
  readonly language: string
  readonly text: string
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(bash|ts|python)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => {
    return { language: language!, text: text! }
  })
}

/** Programs of this tree, on the state folder of this test. */
function asHere(text: string): string {
  const node = `'${process.execPath}'`
  return text.replaceAll(/npx weir (\w+)/g, `${node} '${MAIN}' $1 --state '${state}'`).replaceAll('npx node', node)
}
