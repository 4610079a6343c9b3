// The workflows of hosted CI, read by GitHub's own parser. It knows every key and expression.

import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import { missingIn, placeOf } from '../../installed.ts'
import { ROOT } from '../../kit/program.ts'

interface Step {
  /** A token of the parser. */
  readonly run?: object
}
interface Workflow {
  readonly errors: readonly string[]
  readonly jobs: readonly { readonly id: string; readonly steps: readonly Step[] }[]
}

const PLACE = placeOf('release')
const missing = missingIn(PLACE, join(ROOT, 'test/release'))
if (missing !== null) console.error(`SKIPPED: GitHub's parser of workflows: ${missing}`)

const paths = globSync('.github/workflows/*.yml', { cwd: ROOT }).sort()
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
let parse: (text: string) => Promise<Workflow>

/** Bundled, because Node does not import JSON as the parser does. */
beforeAll(async () => {
  if (missing !== null) return
  const entry = join(PLACE, 'entry.mjs')
  const names = 'convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow'
  writeFileSync(entry, `export { ${names} } from '@actions/workflow-parser'\n`)
  const lib = { entry, formats: ['es' as const], fileName: 'parser' }
  const outDir = join(PLACE, 'built')
  await build({ root: PLACE, configFile: false, logLevel: 'warn', build: { outDir, target: 'es2022', lib } })
  const parser = await import(pathToFileURL(join(outDir, 'parser.js')).href)
  parse = async (content) => {
    const { context, value } = parser.parseWorkflow({ name: 'x.yml', content }, new parser.NoOperationTraceWriter())
    const found = context.errors.getErrors().map(String)
    const template = await parser.convertWorkflowTemplate(context, value)
    return { errors: found, jobs: template.jobs ?? [] }
  }
})

describe.skipIf(missing !== null)("GitHub's parser", () => {
  it.each(paths)('accepts %s, and bash its scripts', async (path) => {
    const { errors, jobs } = await parse(read(path))
    expect(errors).toEqual([])
    const scripts = jobs.flatMap(({ steps }) => steps.flatMap(({ run }) => (run === undefined ? [] : [String(run)])))
    expect(scripts.length).toBeGreaterThan(0)
    for (const script of scripts) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
      expect([status, stderr]).toEqual([0, ''])
    }
  })

  it.each([
    ['permissions:', 'permision:', "Unexpected value 'permision'"],
    ['github.ref', 'gihub.ref', "Unrecognized named-value: 'gihub'"],
  ])('finds a mistake: %s, %s', async (from, to, error) => {
    const { errors } = await parse(read('.github/workflows/release.yml').replace(from, to))
    expect(errors.join()).toContain(error)
  })
})

describe.each(paths)('%s', (path) => {
  const text = read(path)

  it('uses actions by their commit', () => {
    const used = [...text.matchAll(/uses: (.*)$/gm)].map(([, action]) => action)
    expect(used.length).toBeGreaterThan(0)
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('gives no job more than it needs, and leaves no credentials in the checkout', () => {
    const [, top = ''] = /^permissions:(.*(?:\n .*)*)/m.exec(text) ?? []
    expect(top.trim()).toMatch(/^(?:\{\}|contents: read)$/)
    expect(text.match(/actions\/checkout@/g)?.length).toBe(text.match(/persist-credentials: false/g)?.length)
    expect(text).not.toContain('secrets.')
    expect(text.match(/runs-on:/g)?.length).toBe(text.match(/timeout-minutes:/g)?.length)
  })

  it('runs commands that package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
    const commands = [...text.matchAll(/\bnpm (?:run )?(test|(?<=run )[\w:]+)/g)].map(([, name = '']) => name)
    expect(commands).toContain('test')
    expect(commands.filter((name) => scripts[name] === undefined)).toEqual([])
  })
})

it('has write permissions only in the jobs that publish', () => {
  const jobs = read('.github/workflows/release.yml').split(/^ {2}(?=\w+:\n)/m)
  const writes = jobs.map((job) => [/^\w+/.exec(job)?.[0], [...job.matchAll(/([\w-]+): write$/gm)].map(([, of]) => of)])
  expect(Object.fromEntries(writes.slice(2))).toEqual({
    build: [],
    attest: ['id-token', 'attestations'],
    npm: ['id-token'],
    pypi: ['id-token'],
    container: ['packages'],
    github: ['contents'],
  })
})
