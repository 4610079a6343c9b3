// Generates schemas/ from the zod schemas that the code parses with, and the tables in docs/ from the catalogs.
// Reviewers see changes of the contract in these files. `--check` writes nothing, lists the differences and exits with
// 1 if there are any.

import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { printSchema } from 'graphql'
import * as z from 'zod'
import { commandLine, program } from '../src/core/command-line.node.ts'
import { asyncApiDocument } from '../src/http/docs/asyncapi.ts'
import { openApiDocument } from '../src/http/docs/openapi.ts'
import { ENDPOINTS } from '../src/http/platform/catalogue.ts'
import { monthTable } from '../src/http/platform/month-bill.ts'
import { CATALOGUE } from '../src/info/queries/catalogue.ts'
import { FeederFrame, GatewayFrame } from '../src/protocol/feed/protocol.ts'
import { publishedFrame } from '../src/relay/channel.ts'
import { CHANNELS } from '../src/relay/channels/catalogue.ts'
import { graphqlSchema } from '../src/relay/graphql/schema.ts'
import {
  channelTable,
  closeCodesTable,
  dataCallsTable,
  errorCodesTable,
  infoTable,
  metricsTable,
  pipelineCallsTable,
  planCreditsTable,
  planLimitsTable,
  platformCallsTable,
  pricesTable,
} from './document-tables.ts'
import { feederStatusTable, statusTable } from './field-table.ts'
import { withPart } from './marked.ts'
import { responseTypes, wireTypes } from './wire-types.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

const GENERATE = program('npm run generate', 'writes schemas and the tables of documents', ['']).option(
  '--check',
  'writes nothing, lists what differs',
)

/** Generated folders of schemas, each with its documents by file name. A new surface needs one line here. */
const FOLDERS: Readonly<Record<string, () => Readonly<Record<string, unknown>>>> = {
  'schemas/feed': () => ({ 'feeder-frame': schemaOf(FeederFrame), 'gateway-frame': schemaOf(GatewayFrame) }),
  'schemas/info': () =>
    Object.fromEntries(
      CATALOGUE.map(({ type, request, response }) => [
        type,
        { title: type, request: schemaOf(request), response: schemaOf(response()) },
      ]),
    ),
  'schemas/ws': () =>
    Object.fromEntries(
      CHANNELS.map((channel) => [
        channel.type,
        { title: channel.type, request: schemaOf(channel.request), frame: schemaOf(publishedFrame(channel)) },
      ]),
    ),
}

/** Generated parts of documents: the name of the markers and the text. A new table needs one line here. */
const PARTS: readonly (readonly [path: string, name: string, text: () => string])[] = [
  ['docs/reference/info.md', 'info types', infoTable],
  ['docs/reference/websocket.md', 'channels', channelTable],
  ['docs/reference/errors.md', 'error codes', errorCodesTable],
  ['docs/reference/errors.md', 'close codes', closeCodesTable],
  ['docs/reference/pricing.md', 'prices', pricesTable],
  ['docs/reference/pricing.md', 'plan credits', planCreditsTable],
  ['docs/reference/rate-limits.md', 'plan limits', planLimitsTable],
  ['docs/reference/rest.md', 'platform calls', platformCallsTable],
  ['docs/reference/rest.md', 'data calls', dataCallsTable],
  ['docs/reference/pipelines.md', 'pipeline calls', pipelineCallsTable],
  ['docs/operators/reference/costs.md', 'month', monthTable],
  ['docs/operators/reference/metrics.md', 'metrics', metricsTable],
  ['docs/operators/reference/status.md', 'status', statusTable],
  ['docs/operators/reference/status.md', 'feeder status', feederStatusTable],
]

/** The input schema: before defaults and normalization. */
function schemaOf(schema: z.ZodType): unknown {
  return z.toJSONSchema(schema, { io: 'input' })
}

/** Every generated file's text, by its path below the repository. */
export function generated(): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (const [folder, documents] of Object.entries(FOLDERS)) {
    for (const [name, document] of Object.entries(documents())) files.set(`${folder}/${name}.json`, jsonText(document))
  }
  files.set('schemas/openapi.json', jsonText(openApiDocument(CATALOGUE, ENDPOINTS)))
  files.set('schemas/graphql/schema.graphql', `${printSchema(graphqlSchema())}\n`)
  files.set('schemas/asyncapi.json', jsonText(asyncApiDocument(CHANNELS)))
  files.set('src/client/wire.ts', wireTypes())
  const pages = globSync('src/{console,cli}/**/*.{ts,tsx}', { cwd: ROOT })
  files.set('src/console/responses.ts', responseTypes(pages.map((path) => readIfThere(path) ?? '').join()))
  for (const [path, name, text] of PARTS)
    files.set(path, withPart(files.get(path) ?? readIfThere(path) ?? '', name, text()))
  return files
}

function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Paths whose file is missing, differs, or no longer has a source. */
export function differences(files: ReadonlyMap<string, string>): string[] {
  const differing = [...files].filter(([path, text]) => text !== readIfThere(path)).map(([path]) => path)
  return [...differing, ...orphans(files)].sort()
}

function orphans(files: ReadonlyMap<string, string>): string[] {
  return Object.keys(FOLDERS)
    .flatMap((folder) => namesIn(folder).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith('.json') && !files.has(path))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(join(ROOT, folder))
  } catch {
    return []
  }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(join(ROOT, path), 'utf8')
  } catch {
    return null
  }
}

function write(files: ReadonlyMap<string, string>): void {
  for (const path of orphans(files)) rmSync(join(ROOT, path))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(ROOT, path)), { recursive: true })
    writeFileSync(join(ROOT, path), text)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { check } = commandLine(GENERATE).opts()
  const files = generated()
  if (check) {
    const differing = differences(files)
    for (const path of differing) console.error(`${path} differs: run npm run generate`)
    process.exit(differing.length > 0 ? 1 : 0)
  }
  write(files)
  console.error(`${files.size} files written`)
}
