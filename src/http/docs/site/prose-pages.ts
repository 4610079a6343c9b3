// Documents that people wrote, as pages: links between files become links between addresses, what is generated inside them
// is linked or left to the pages that say more of it.

import { type Page, rewritten, type Section } from './page.ts'

/** Files of the repository that are pages, or are quoted on them: patterns below its root. */
export const DOCUMENTS: readonly string[] = [
  '*.md',
  'docs/**/*.md',
  'examples/*.{md,ts,py,sh,html}',
  'schemas/storage.md',
]

/** Markdown by its path below the repository. */
export type Documents = ReadonlyMap<string, string>

/** In the order of the menu; guides stand between the first and the others. */
const PLACES: readonly (readonly [path: string, section: Section])[] = [
  ['docs/README.md', 'start'],
  ['docs/guides/first-key.md', 'start'],
  ['docs/guides/books.md', 'start'],
  ['docs/guides/replay.md', 'start'],
  ['docs/guides/pipelines.md', 'start'],
  ['docs/guides/moving.md', 'start'],
  ['docs/guides/running.md', 'start'],
  ['docs/client.md', 'start'],
  ['examples/README.md', 'start'],
  ['docs/info.md', 'info'],
  ['docs/ws-protocol.md', 'streams'],
  ['docs/graphql.md', 'streams'],
  ['docs/rpc.md', 'rpc'],
  ['docs/platform.md', 'platform'],
  ['docs/pipelines.md', 'pipelines'],
  ['docs/pipelines-delivery.md', 'pipelines'],
  ['docs/operations.md', 'operator'],
  ['docs/selling.md', 'operator'],
  ['docs/commands.md', 'operator'],
  ['docs/feed-protocol.md', 'operator'],
  ['docs/architecture.md', 'inside'],
  ['docs/benchmarks.md', 'inside'],
  ['schemas/storage.md', 'inside'],
  ['CONTRIBUTING.md', 'inside'],
  ['SECURITY.md', 'inside'],
  ['CHANGELOG.md', 'inside'],
  ['docs/decisions/README.md', 'decisions'],
]

/** Files that have an address of their own elsewhere. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': '/docs',
  'schemas/openapi.json': '/openapi.json',
  'schemas/asyncapi.json': '/asyncapi.json',
  'schemas/ws': '/asyncapi.json',
  'schemas/graphql/schema.graphql': '/graphql/schema.graphql',
}

/** Where a file of the repository stands, if it does. */
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

/** Documents that the menu does not know: they are shown, and a test asks for their place. */
export function unplacedOf(documents: Documents): string[] {
  return [...documents.keys()].filter((path) => {
    return /^docs\/(guides\/)?[\w-]+\.md$/.test(path) && !PLACES.some(([known]) => known === path)
  })
}

export function prosePages(documents: Documents): Page[] {
  const decisions = [...documents.keys()].filter((path) => /^docs\/decisions\/\d/.test(path)).sort()
  const programs = [...documents.keys()].filter((path) => /^examples\/[\w-]+\.(?!md$)\w+$/.test(path)).sort()
  const unplaced = unplacedOf(documents).map((path) => [path, 'inside'] as const)
  const placed = [...PLACES, ...unplaced, ...decisions.map((path) => [path, 'decisions'] as const)]
  return [
    ...placed.flatMap(([path, section]) => {
      const text = documents.get(path)
      return text === undefined ? [] : [prosePage(path, section, text)]
    }),
    ...programs.map((path) => programPage(path, documents.get(path) ?? '')),
  ]
}

function prosePage(path: string, section: Section, text: string): Page {
  const address = addressOf(path) ?? ''
  const markdown = rewritten(withoutParts(text), (line) => linked(line, path))
  const title = /^# (.*)$/m.exec(markdown)?.[1] ?? address
  return { address, title, section, summary: firstSentence(markdown), markdown }
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
    section: 'start',
    markdown: `# ${name}\n\nA program to copy: [how it is run](/docs/examples).\n\n\`\`\`${language}\n${text.trimEnd()}\n\`\`\`\n`,
  }
}

/** Without markers; what stands at length on other pages is left to them, and lists name these. */
function withoutParts(text: string): string {
  return text
    .replace(/<!-- examples -->[\s\S]*<!-- \/examples -->/, 'They stand on the page of [each channel](/docs/channels).')
    .replace(/<!-- info types -->[\s\S]*?<!-- \/info types -->/, (part) => namesLinked(part, '/docs/info/'))
    .replace(/<!-- channels -->[\s\S]*?<!-- \/channels -->/, (part) => namesLinked(part, '/docs/channels/'))
    .replaceAll(/^<!-- [^>]* -->\n?/gm, '')
}

const namesLinked = (part: string, below: string) =>
  part.replaceAll(/^\| `(\w+)` \|/gm, (_, name: string) => `| [\`${name}\`](${below}${name}) |`)

/** Links to files lead to their pages; those to what is not published are left as text. */
function linked(line: string, path: string): string {
  const folder = path.split('/').slice(0, -1)
  return line.replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, (whole, text: string, target: string) => {
    if (/^(https?:|\/)/.test(target) || target.startsWith('#')) return whole
    const [file = '', anchor] = target.split('#')
    const address = addressOf(resolved(folder, file))
    if (address === null) return text
    const isLost = resolved(folder, file) === 'README.md'
    return `[${text}](${address}${anchor === undefined || isLost ? '' : `#${anchor}`})`
  })
}

/** For another page: what lies on the same page has its address, too. */
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

/** Of the first paragraph, without links. */
function firstSentence(markdown: string): string {
  const paragraph = markdown.split('\n\n').find((part) => /^[\w*`“[]/.test(part) && !/^(\d{4}-|```)/.test(part)) ?? ''
  const plain = paragraph
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
  const [sentence = plain] = /^.*?[.:](?= |$)/.exec(plain) ?? []
  return sentence.replace(/[.:]$/, '').slice(0, 240)
}

/** Paragraphs and points behind the generated table, for the pages of what they name. */
export function paragraphsOf(markdown: string): string[] {
  const text = rewritten(withoutParts(markdown), (line) => quoted(line, 'docs/info.md'))
  return text
    .split(/\n\n|\n(?=- )/)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !/^([#|]|```)/.test(part))
    .map((part) => part.replace(/^- /, '').replaceAll(/\n +/g, '\n'))
}

/** Numbered rules, each with its paragraphs up to the next rule or heading; tables and code are left to the document. */
export function rulesOf(markdown: string): string[] {
  const text = rewritten(withoutParts(markdown), (line) => quoted(line, 'docs/ws-protocol.md'))
  return [...text.matchAll(/^\*\*WS-\d+\.\*\* [\s\S]*?(?=\n\n)/gm)].map(([rule]) => rule)
}
