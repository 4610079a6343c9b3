// Pages from Markdown documents: links between files become links between addresses, and names in generated tables link
// to
// their pages.

import { ENDPOINTS } from '../../platform/catalogue.ts'
import { type Page, rewriteLines, type Section } from './page.ts'

/** Patterns of the files that become pages, or are quoted on them. */
export const DOCUMENTS: readonly string[] = [
  '*.md',
  'docs/**/*.md',
  'examples/*.{md,ts,py,sh,html}',
  'schemas/storage.md',
]

/** Markdown by its path below the repository. */
export type Documents = ReadonlyMap<string, string>

/** Documents with a fixed place in the menu. The others follow, sorted by path. */
const ORDER: readonly string[] = [
  'docs/README.md',
  'docs/get-started.md',
  'docs/guides/order-books.md',
  'docs/guides/replay.md',
  'docs/guides/backtests.md',
  'docs/guides/pipelines.md',
  'docs/guides/use-from-an-ai-agent.md',
  'docs/guides/pay-per-call.md',
  'docs/guides/team.md',
  'docs/guides/migrate.md',
  'examples/README.md',
  'docs/reference/authentication.md',
  'docs/reference/errors.md',
  'docs/reference/rate-limits.md',
  'docs/reference/pricing.md',
  'docs/reference/pagination.md',
  'docs/reference/sdks.md',
  'docs/reference/generated-clients.md',
  'docs/reference/info.md',
  'docs/reference/websocket.md',
  'docs/reference/graphql.md',
  'docs/reference/json-rpc.md',
  'docs/reference/rest.md',
  'docs/reference/pipelines.md',
  'docs/operators/README.md',
  'docs/operators/run-your-own.md',
  'docs/operators/guides/deploy.md',
  'docs/operators/guides/run-on-a-server.md',
  'docs/operators/guides/run-in-a-container.md',
  'docs/operators/guides/move-to-cloudflare.md',
  'docs/operators/guides/connect-a-node.md',
  'docs/operators/guides/configure-sources.md',
  'docs/operators/guides/choose-a-region.md',
  'docs/operators/guides/keep-an-archive.md',
  'docs/operators/guides/import-older-blocks.md',
  'docs/operators/guides/repair-gaps.md',
  'docs/operators/guides/sell-credits.md',
  'docs/operators/guides/sell-by-x402.md',
  'docs/operators/guides/offer-sign-up.md',
  'docs/operators/guides/open-the-live-page.md',
  'docs/operators/guides/manage-staff.md',
  'docs/operators/guides/use-hyperdrive.md',
  'docs/operators/guides/monitor.md',
  'docs/operators/guides/recover.md',
  'docs/operators/guides/recover-from-a-disaster.md',
  'docs/operators/guides/update.md',
  'docs/operators/guides/rehearse-before-you-deploy.md',
  'docs/operators/reference/commands.md',
  'docs/operators/reference/settings.md',
  'docs/operators/reference/json-rpc-chains.md',
  'docs/operators/reference/admin-api.md',
  'docs/operators/reference/status.md',
  'docs/operators/reference/metrics.md',
  'docs/operators/reference/costs.md',
  'docs/operators/reference/feed-protocol.md',
  'docs/internals/architecture.md',
  'docs/internals/benchmarks.md',
  'schemas/storage.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'docs/internals/decisions/README.md',
]

/** Sections by document path; the first match applies. */
const SECTION_OF_PATH: readonly (readonly [path: RegExp, section: Section])[] = [
  [/^(docs\/(README|get-started)|CHANGELOG)\.md$/, 'start'],
  [/^(docs\/guides|examples)\/[\w-]+\.md$/, 'guides'],
  [/^docs\/reference\/[\w-]+\.md$/, 'reference'],
  [/^docs\/explanation\/[\w-]+\.md$/, 'explanation'],
  [/^docs\/operators\/[\w/-]+\.md$/, 'operator'],
  [/^docs\/internals\/decisions\/[\w-]+\.md$/, 'decisions'],
  [/^(docs\/internals\/[\w-]+|schemas\/storage|CONTRIBUTING|SECURITY)\.md$/, 'inside'],
]

/** Addresses of files that are not published as a page of their own. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': '/docs',
  'schemas/openapi.json': '/openapi.json',
  'schemas/asyncapi.json': '/asyncapi.json',
  'schemas/ws': '/asyncapi.json',
  'schemas/graphql/schema.graphql': '/graphql/schema.graphql',
}

/** Address of a file in the repository; null if it has none. */
function addressOf(path: string): string | null {
  const own = ELSEWHERE[path]
  if (own !== undefined) return own
  if (/^(CONTRIBUTING|SECURITY|CHANGELOG)\.md$/.test(path)) return `/docs/${path.slice(0, -3).toLowerCase()}`
  if (path === 'schemas/storage.md') return '/docs/storage'
  const program = /^examples\/([\w-]+)\.(\w+)$/.exec(path)
  if (program !== null && program[2] !== 'md') return `/docs/examples/${program[1]}-${program[2]}`
  const document = /^(docs|examples)(?:\/([\w/-]+))?\/([\w-]+)\.md$/.exec(path)
  if (document === null) return null
  const [, room, folder = '', name = 'README'] = document
  const parts = ['/docs', ...(room === 'examples' ? ['examples'] : []), folder, name === 'README' ? '' : name]
  return parts.filter((part) => part !== '').join('/')
}

const sectionOfPath = (path: string) => SECTION_OF_PATH.find(([known]) => known.test(path))?.[1] ?? null

/** Documents below `docs` without a section: they appear among the internals, and a test rejects them. */
export function unplacedOf(documents: Documents): string[] {
  return [...documents.keys()].filter((path) => path.startsWith('docs/') && sectionOfPath(path) === null)
}

export function prosePages(documents: Documents): Page[] {
  const rest = [...documents.keys()].filter((path) => path.endsWith('.md') && !ORDER.includes(path)).sort()
  const unplaced = new Set(unplacedOf(documents))
  const programs = [...documents.keys()].filter((path) => /^examples\/[\w-]+\.(?!md$)\w+$/.test(path)).sort()
  return [
    ...[...ORDER, ...rest].flatMap((path) => {
      const text = documents.get(path)
      const section = unplaced.has(path) ? 'inside' : sectionOfPath(path)
      return text === undefined || section === null ? [] : [prosePage(path, section, text)]
    }),
    ...programs.map((path) => programPage(path, documents.get(path) ?? '')),
  ]
}

function prosePage(path: string, section: Section, text: string): Page {
  const address = addressOf(path) ?? ''
  const markdown = rewriteLines(withoutParts(text), (line) => linked(line, path))
  const title = /^# (.*)$/m.exec(markdown)?.[1] ?? address
  const page = { address, title, section, summary: firstSentence(markdown), markdown, keywords: tableKeys(markdown) }
  return path === 'CHANGELOG.md' ? { ...page, feed: `${address}.atom` } : page
}

function programPage(path: string, text: string): Page {
  const name = path.slice('examples/'.length)
  const ending = path.slice(path.lastIndexOf('.') + 1)
  const language = { py: 'python', sh: 'bash' }[ending] ?? ending
  const summary = /^(?:\/\/|#(?!!)|<!--) ?(.*)$/m.exec(text)?.[1] ?? 'A program to copy'
  return {
    address: addressOf(path) ?? '',
    title: name,
    summary,
    section: 'guides',
    group: 'Example programs',
    markdown: `# ${name}\n\nA program to copy: [how to run it](/docs/examples).\n\n\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`,
  }
}

/** The text without its markers. Names and calls in generated tables become links to their pages. */
function withoutParts(text: string): string {
  return text
    .replace(/<!-- info types -->[\s\S]*?<!-- \/info types -->/, (part) => namesLinked(part, '/docs/info/'))
    .replace(/<!-- channels -->[\s\S]*?<!-- \/channels -->/, (part) => namesLinked(part, '/docs/channels/'))
    .replaceAll(/<!-- (\w+) calls -->[\s\S]*?<!-- \/\1 calls -->/g, callsLinked)
    .replaceAll(/^<!-- [^>]* -->\n?/gm, '')
}

const callsLinked = (part: string) =>
  part.replaceAll(/^\| (`\w+ [^`]+`) \|/gm, (row, call: string) => {
    const operation = ENDPOINTS.find(({ method, path }) => `\`${method.toUpperCase()} ${path}\`` === call)
    return operation === undefined ? row : `| [${call}](/docs/rest/${operation.id}) |`
  })

const namesLinked = (part: string, below: string) =>
  part.replaceAll(/^\| `(\w+)` \|/gm, (_, name: string) => `| [\`${name}\`](${below}${name}) |`)

/** Links to files lead to their pages; links to unpublished files become text; an address as code becomes a link. */
function linked(line: string, path: string): string {
  const folder = path.split('/').slice(0, -1)
  const withAddresses = line.replaceAll(/(?<!\[)`(\/docs\/[\w/-]+|\/console(?:\?[\w=&]+)?)`/g, '[`$1`]($1)')
  return withAddresses.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (whole, text: string, target: string) => {
    if (/^(https?:|\/)/.test(target) || target.startsWith('#')) return whole
    const [file = '', anchor] = target.split('#')
    const address = addressOf(resolved(folder, file))
    if (address === null) return text
    const isLost = resolved(folder, file) === 'README.md'
    return `[${text}](${address}${anchor === undefined || isLost ? '' : `#${anchor}`})`
  })
}

/** Prepares a line for use on a different page: links within its own page get the page's address. */
function quoted(line: string, path: string): string {
  return linked(line, path).replaceAll('](#', `](${addressOf(path)}#`)
}

function resolved(folder: readonly string[], file: string): string {
  const parts = [...folder]
  for (const part of file.split('/').filter((each) => each !== '' && each !== '.')) {
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}

/** The first sentence, without links and without the words that name the audience. */
function firstSentence(markdown: string): string {
  const paragraph = markdown.split('\n\n').find((part) => /^[\w*`“[]/.test(part) && !/^(\d{4}-|```)/.test(part)) ?? ''
  const plain = paragraph
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
  const ownWords = plain.replace(/^For .+?: (?:this page (?:lists|shows) )?(\w)/, (_, letter: string) =>
    letter.toUpperCase(),
  )
  const [sentence = ownWords] = /^.*?\.(?= |$)/.exec(ownWords) ?? []
  return sentence.replace(/[.:]$/, '').slice(0, 240)
}

/** The first column of every table: names, codes and limits. */
function tableKeys(markdown: string): string[] {
  const cells = [...markdown.matchAll(/^\| ((?:[^|\\]|\\.)*?) \|/gm)].map(([, cell = '']) =>
    cell.replaceAll(/[`*]/g, '').replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'),
  )
  return [...new Set(cells)].filter((cell) => /\w/.test(cell))
}

/** Paragraphs and list items after the generated table, for the pages of the types that they name. */
export function paragraphsOf(markdown: string): string[] {
  const text = rewriteLines(withoutParts(markdown), (line) => quoted(line, 'docs/reference/info.md'))
  return text
    .split(/\n\n|\n(?=- )/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^([#|]|```)/.test(part))
    .map((part) => part.replace(/^- /, '').replaceAll(/\n +/g, '\n'))
}

/**
 * Numbered rules, each with its paragraphs up to the next rule or heading; tables and code are left to the document.
 */
export function rulesOf(markdown: string): string[] {
  const text = rewriteLines(withoutParts(markdown), (line) => quoted(line, 'docs/reference/websocket.md'))
  return [...text.matchAll(/^\*\*WS-\d+\.\*\* [\s\S]*?(?=\n\n)/gm)].map(([rule]) => rule)
}
