// Python clients that public generators create from /openapi-3.0.json and /asyncapi.json. The programs that use them are
// the ones in docs/reference/generated-clients.md.

import { type ExecFileOptions, execFile, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { ASYNCAPI_MODULES, MODULES } from './install.ts'

const execute = promisify(execFile)
const JAR = join(MODULES, '@openapitools/openapi-generator-cli/bin/openapi-generator.jar')
/** Half the time of the default settings, for a program that runs once. */
const JAVA_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Dlog.level=error']
const GENERATE = `
const [template, document, folder] = process.argv.slice(1)
const Generator = require(process.env.MODULES + '/@asyncapi/generator')
new Generator(template, folder, { templateParams: { server: 'gateway' } }).generateFromFile(document)
`

function pythonWith(modules: string): string | undefined {
  const works = (name: string) => spawnSync(name, ['-c', `import ${modules}`]).status === 0
  return ['python3', '/usr/bin/python3'].find(works)
}

const HTTP_PYTHON = pythonWith('certifi, dateutil, six, urllib3')
const SOCKET_PYTHON = pythonWith('certifi, websocket')

/** Null, or what the client of /openapi-3.0.json lacks. */
export function missingForOpenApi(): string | null {
  if (spawnSync('java', ['-version']).status !== 0) return "Java is not installed: Debian's default-jre-headless"
  return HTTP_PYTHON === undefined ? "not installed: Debian's python3-requests, python3-dateutil, python3-six" : null
}

/** Null, or what the client of /asyncapi.json lacks. */
export function missingForAsyncApi(): string | null {
  return SOCKET_PYTHON === undefined ? "not installed: Debian's python3-requests and python3-websocket" : null
}

/** The Python block of the page that begins with the name of this file. */
function documented(file: string): string {
  const page = readFileSync(new URL('../../docs/reference/generated-clients.md', import.meta.url), 'utf8')
  const blocks = [...page.matchAll(/```python\n([\s\S]*?)```/g)].map(([, block]) => block!)
  return blocks.find((block) => block.startsWith(`# ${file}\n`))!
}

async function run(command: string, args: readonly string[], options: ExecFileOptions): Promise<string> {
  const { stdout } = await execute(command, args, { ...options, maxBuffer: 1 << 26 })
  return String(stdout).trim()
}

function stored(folder: string, text: string): string {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'description.json')
  writeFileSync(path, text)
  return path
}

const environment = (url: string, key: string) => {
  return { ...process.env, WEIR_URL: url, WEIR_KEY: key, PYTHONDONTWRITEBYTECODE: '1' }
}

/** Output of a program with the client of OpenAPI Generator. Its version reads OpenAPI 3.0 and validates it first. */
export async function openApiPython(folder: string, text: string, url: string, key: string): Promise<string> {
  const description = stored(folder, text)
  const parts = 'modelTests=false,apiTests=false,modelDocs=false,apiDocs=false'
  const options = ['-g', 'python', '--package-name', 'weir', '-o', folder, `--global-property=${parts}`]
  await run('java', [...JAVA_OPTIONS, '-jar', JAR, 'generate', '-i', description, ...options], {})
  writeFileSync(join(folder, 'ask.py'), documented('ask.py'))
  return run(HTTP_PYTHON!, ['ask.py'], { cwd: folder, env: environment(url, key) })
}

/** First lines that a program with the client of AsyncAPI Generator prints, until `last` is among them. */
export async function asyncApiPython(
  folder: string,
  text: string,
  url: string,
  key: string,
  last: string,
): Promise<string[]> {
  const description = stored(folder, text)
  const client = join(folder, 'streams')
  const args = ['-e', GENERATE, 'core-template-client-websocket-python', description, client]
  await run(process.execPath, args, { env: { ...process.env, MODULES: ASYNCAPI_MODULES, NODE_PATH: pathOfNpm() } })
  writeFileSync(join(client, 'watch.py'), documented('streams/watch.py'))
  const child = execFile(SOCKET_PYTHON!, ['streams/watch.py'], { cwd: folder, env: environment(url, key) })
  const lines: string[] = []
  try {
    for await (const chunk of child.stdout!) {
      lines.push(...String(chunk).trim().split('\n'))
      if (lines.includes(last)) break
    }
  } finally {
    child.kill()
  }
  return lines
}

/** The generator looks for npm itself. */
function pathOfNpm(): string {
  const [place] = process.env.PATH!.split(delimiter).flatMap((folder) => {
    try {
      return [realpathSync(join(folder, 'npm'))]
    } catch {
      return []
    }
  })
  return place === undefined ? '' : dirname(dirname(dirname(place)))
}
