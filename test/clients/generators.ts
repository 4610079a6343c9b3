// Clients generated from /openapi.json by public generators: each is generated, compiled and called. The program for
// openapi-typescript is the one in docs/reference/generated-clients.md.

import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { MODULES, PLACE } from './install.ts'

const execute = promisify(execFile)
const OURS = join(PLACE, '../..')
const TSC_OPTIONS = [
  ...'--ignoreConfig --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024'.split(' '),
  ...['--types', 'node', '--typeRoots', join(OURS, '@types')],
  ...['--rootDir', '.', '--outDir', 'js'],
]

/** Each prints the `l2Book` response for BTC in its own types, and the error of an invalid request. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'openapi-fetch': '',
  // Only named schemas reach its types, so the caller chooses the response type.
  oazapfts: `
import { defaults, info, type L2BookAnswer } from './oazapfts.gen.js'

defaults.baseUrl = process.env.WEIR_URL!
defaults.headers = { authorization: \`Bearer \${process.env.WEIR_KEY}\` }
const answer = await info({ type: 'l2Book', coin: 'BTC' })
if (answer.status !== 200) throw new Error('refused')
const book = answer.data as L2BookAnswer
console.log(book?.coin, book?.levels[0]?.[0]?.px)
const wrong = await info({ type: 'l2Book', coin: 'BTC', nSigFigs: 9 })
if (wrong.status === 422) console.log(wrong.status, wrong.data.msg)
`,
  'hey-api': `
import { client } from './hey-api/client.gen.js'
import { info, type InfoAnswerByType, type InfoRequest } from './hey-api/index.js'

client.setConfig({ baseUrl: process.env.WEIR_URL!, auth: process.env.WEIR_KEY! })
const ask = async <Request extends InfoRequest>(body: Request) => {
  const { data, error } = await info({ body })
  if (error !== undefined) throw new Error(error.msg)
  return data as InfoAnswerByType[Request['type']]
}
const book = await ask({ type: 'l2Book', coin: 'BTC' })
console.log(book?.coin, book?.levels[0]?.[0]?.px)
const { error, response } = await info({ body: { type: 'l2Book', coin: 'BTC', nSigFigs: 9 } })
console.log(response?.status, error?.msg)
`,
}

/** The TypeScript block of docs/reference/generated-clients.md, plus what this test checks. */
function documented(): string {
  const page = readFileSync(new URL('../../docs/reference/generated-clients.md', import.meta.url), 'utf8')
  return `${/```ts\n([\s\S]*?)```/.exec(page)![1]}
const { error, response } = await weir.POST('/info', { body: { type: 'l2Book', coin: 'BTC', nSigFigs: 9 } })
console.log(response.status, error?.msg)
// @ts-expect-error: without its coin
void (() => info({ type: 'l2Book' }))
// @ts-expect-error: of another answer
void book?.universe
// A single type's own document needs no choice.
import type { paths as OfOneType } from './l2Book.js'
const one = await createClient<OfOneType>({ baseUrl: process.env.WEIR_URL! }).POST('/info', {
  headers: { authorization: \`Bearer \${process.env.WEIR_KEY}\` },
  body: { type: 'l2Book', coin: 'BTC' },
})
if (one.data?.coin !== 'BTC') throw new Error('another book')
`
}

/**
 * Output of each generated client against a running gateway, by name. The folder must be outside `node_modules`, where
 * a compiler writes nothing. Rejects if one cannot be generated or used.
 */
export async function generatedClients(folder: string, openApi: string, ofL2Book: string, url: string, key: string) {
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(folder)
  symlinkSync(MODULES, join(folder, 'node_modules'))
  write('openapi.json', openApi)
  write('l2Book.json', ofL2Book)
  for (const [name, text] of Object.entries(PROGRAMS)) write(`${name}.ts`, text || documented())
  const output = { path: 'hey-api', importFileExtension: '.js' }
  write('hey-api.config.mjs', `export default ${JSON.stringify({ input: './openapi.json', output, logs: 'silent' })}`)
  write('package.json', '{"type":"module"}')
  const env = { ...process.env, WEIR_URL: url, WEIR_KEY: key }
  const run = async (...args: string[]) => (await execute(process.execPath, args, { cwd: folder, env })).stdout.trim()
  const generate = (path: string, ...args: string[]) => run(join('node_modules', path), ...args)
  await Promise.all([
    generate('openapi-typescript/bin/cli.js', 'openapi.json', '-o', 'weir.d.ts'),
    generate('openapi-typescript/bin/cli.js', 'l2Book.json', '-o', 'l2Book.d.ts'),
    generate('@hey-api/openapi-ts/bin/run.js', '-f', 'hey-api.config.mjs'),
    generate('oazapfts/dist/cli.js', 'openapi.json', 'oazapfts.gen.ts'),
  ])
  const names = Object.keys(PROGRAMS)
  const files = names.map((name) => `${name}.ts`)
  await execute(join(OURS, '.bin/tsc'), [...TSC_OPTIONS, ...files], { cwd: folder }).catch(({ stdout }) => {
    throw new Error(String(stdout))
  })
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await run(join('js', `${name}.js`))] as const)),
  )
}
