// Writes the documentation as files at build time: HTML and Markdown of every page, the search index, llms.txt. Workers
// serve the files. Invariants: HTML within Markdown is text; headings have the same anchors as on GitHub; code samples
// of one
// call in several languages are tabs that work without JavaScript.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Marked, type Tokens } from 'marked'
import { build } from 'vite'
import { withPackageName } from '../../../client/package-name.node.ts'
import { buildIndex } from '../../../console/docs/search.ts'
import { LANGUAGES } from '../../../console/requests/code-samples.ts'
import { CATALOGUE } from '../../../info/queries/catalogue.ts'
import { CHANNELS } from '../../../relay/channels/catalogue.ts'
import { ENDPOINTS } from '../../platform/catalogue.ts'
import { atomFeed } from './changelog-feed.ts'
import { channelPages, channelPrices, endpointPages, infoPages, infoRequests } from './definition-pages.ts'
import { escaped, type PageContext, pageHtml } from './layout.ts'
import {
  allPage,
  channelList,
  endpointList,
  rpcMethodsPage,
  statusPage,
  typeList,
  webhooksPage,
} from './other-pages.ts'
import { anchors, llmsFullText, llmsText, markdownFile, type Page, sitemapXml } from './page.ts'
import { DOCUMENTS, paragraphsOf, prosePages, rulesOf } from './prose-pages.ts'
import { searchEntries } from './search-entries.ts'

/** HTML of one page; the names of its tab groups are unique within the page. */
function markdownHtml(markdown: string): string {
  let groups = 0
  const anchor = anchors()
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escaped(text),
      heading({ tokens, depth, text }) {
        const id = anchor(text)
        const link = depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>`
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`
      },
      code: ({ text, lang = '' }) => blockHtml(text, lang),
      table(token) {
        return tableHtml(token, (cell) => this.parser.parseInline(cell.tokens))
      },
    },
  })
  const tokens = marked.lexer(markdown)
  const html: string[] = []
  for (let at = 0; at < tokens.length; at++) {
    const group = groupAt(tokens, at)
    if (group.length < 2) {
      html.push(marked.parser(tokens.slice(at, at + 1)))
      continue
    }
    html.push(tabsHtml(group, ++groups))
    at += group.length * 2 - 2
  }
  return html.join('')
}

/** Tables of fields and of two columns are lists where there is little room. Their roles say that they are still tables. */
function tableHtml({ header, rows }: Tokens.Table, inline: (cell: Tokens.TableCell) => string): string {
  const isFields = header[0]?.text === 'Field'
  const isBare = header.every(({ text }) => text === '')
  const isList = isFields || (header.length === 2 && !isBare)
  const role = (name: string) => (isList ? ` role="${name}"` : '')
  // An empty header cell is not a heading.
  const head = header.map((cell) =>
    cell.text === '' ? '<td></td>' : `<th scope="col"${role('columnheader')}>${inline(cell)}</th>`,
  )
  const lines = rows.map((row) => {
    const cells = row.map(inline).map((html, at) => `<td${role('cell')}>${at === 0 ? breakable(html) : html}</td>`)
    return `<tr${role('row')}>${cells.join('')}</tr>`
  })
  const above = isBare ? '' : `<thead${role('rowgroup')}><tr${role('row')}>${head.join('')}</tr></thead>`
  const body = `<tbody${role('rowgroup')}>${lines.join('\n')}</tbody>`
  return `<div class="scroll" tabindex="0"><table${isList ? ` class="${isFields ? 'fields' : 'pairs'}"` : ''}${role('table')}>${above}${body}</table></div>\n`
}

/** Lets long field paths break between names; HTML tags stay unchanged. */
const breakable = (html: string) =>
  html.replaceAll(/[^<>]+(?=<|$)(?![^<]*>)/g, (text) => text.replaceAll(/(?<=\w|\])([./])(?=\w)/g, '$1<wbr>'))

type Block = Tokens.Code

/** Consecutive code blocks of different languages, from this token on. */
function groupAt(tokens: readonly { type: string }[], from: number): Block[] {
  const blocks: Block[] = []
  for (let at = from; at < tokens.length; at += 2) {
    const block = tokens[at] as Block
    const isNew =
      block.type === 'code' && (block.lang ?? '') in LANGUAGES && !blocks.some(({ lang }) => lang === block.lang)
    if (!isNew) break
    blocks.push(block)
    if (tokens[at + 1]?.type !== 'space') break
  }
  return blocks
}

function tabsHtml(blocks: readonly Block[], group: number): string {
  const inputs = blocks.map(({ lang = '' }, at) => {
    const id = `code-${group}-${at}`
    const label = LANGUAGES[lang as keyof typeof LANGUAGES]
    return `<input type="radio" name="code-${group}" id="${id}" value="${escaped(lang)}"${at === 0 ? ' checked' : ''}><label for="${id}">${label}</label>`
  })
  const panels = blocks.map(({ text, lang = '' }) => blockHtml(text, lang))
  return `<div class="tabs">${inputs.join('')}${panels.join('')}</div>\n`
}

function blockHtml(text: string, lang: string): string {
  const html = lang === 'json' ? jsonHtml(text) : escaped(text)
  return `<pre tabindex="0"${lang === '' ? '' : ` data-language="${escaped(lang)}"`}><code>${html}</code></pre>\n`
}

/** JSON with colors for field names and strings. */
function jsonHtml(text: string): string {
  return escaped(text).replaceAll(
    /(&quot;(?:[^&\\]|\\.|&(?!quot;))*&quot;)(\s*:)?/g,
    (_, string: string, colon = '') => {
      return `<span class="${colon === '' ? 's' : 'k'}">${string}</span>${colon}`
    },
  )
}

/** All pages in menu order, from the files below `root`. */
export function docsPages(root: string): Page[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const notes = (folder: string, definitions: readonly { readonly type: string }[]) => {
    const codes = new Map(globSync(`${folder}/*.ts`, { cwd: root }).map((path) => [basename(path, '.ts'), read(path)]))
    return new Map(definitions.map(({ type }) => [type, noteOf(type, codes)]))
  }
  const paths = globSync(DOCUMENTS, { cwd: root }).sort()
  const documents = new Map(paths.map((path) => [path, withPackageName(read(path))]))
  const endpoints = endpointPages(ENDPOINTS)
  const pages = [
    ...prosePages(documents),
    typeList(CATALOGUE),
    ...infoPages(CATALOGUE, {
      notes: notes('src/info/queries', CATALOGUE),
      paragraphs: paragraphsOf(documents.get('docs/reference/info.md') ?? ''),
    }),
    channelList(CHANNELS),
    ...channelPages(CHANNELS, {
      notes: notes('src/relay/channels', CHANNELS),
      rules: rulesOf(documents.get('docs/reference/websocket.md') ?? ''),
    }),
    rpcMethodsPage(),
    webhooksPage(),
    endpointList(endpoints),
    ...endpoints,
    statusPage(),
  ]
  return [...pages, allPage(pages)]
}

/**
 * The comment at the top of a definition's own file, or above the definition in a shared file; without the leading
 * name.
 */
function noteOf(type: string, codes: ReadonlyMap<string, string>): string | null {
  const [head = ''] = /^(?:\/\/.*\n)+/.exec(codes.get(type) ?? '') ?? []
  const above = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport const ${type}\\b`)
  const [, comment = ''] = (!codes.has(type) && above.exec([...codes.values()].join('\n'))) || []
  const comments = `${head.replaceAll(/^\/\/ ?/gm, '')}${comment.replaceAll(/^ \* ?/gm, '')}`.trim()
  const text = comments.replace(/^\w+: /, '').replace(/ ?\(\w[\w/-]*\.ts\)/g, '')
  return text === '' ? null : text.replace(/^./, (letter) => letter.toUpperCase())
}

/** All files by path below the folder served at `/`. */
export function docsFiles(pages: readonly Page[], loaded: Omit<PageContext, 'pages'>): Map<string, string> {
  const files = new Map<string, string>()
  for (const page of pages) {
    files.set(`${page.address.slice(1)}.html`, pageHtml(page, markdownHtml(page.markdown), { pages, ...loaded }))
    files.set(`${page.address.slice(1)}.md`, markdownFile(page))
    if (page.feed !== undefined) files.set(page.feed.slice(1), atomFeed(page, markdownHtml))
  }
  files.set('docs/search.json', buildIndex(searchEntries(pages)))
  files.set('docs/channel-prices.json', JSON.stringify(channelPrices(CHANNELS)))
  files.set('docs/requests.json', JSON.stringify(infoRequests(CATALOGUE)))
  files.set('docs/addresses.txt', pages.map(({ address }) => address).join('\n'))
  files.set('llms.txt', llmsText(pages))
  files.set('sitemap.xml', sitemapXml(pages))
  files.set('llms-full.txt', llmsFullText(pages))
  return files
}

/** Writes all files into `outDir` and leaves other files there. */
export async function writeDocs(root: string, outDir: string): Promise<void> {
  const files = docsFiles(docsPages(root), await writeAssets(root, outDir))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(outDir, path)), { recursive: true })
    writeFileSync(join(outDir, path), text)
  }
}

/** Bundles style, script and font under hashed names. Returns their addresses. */
async function writeAssets(root: string, outDir: string): Promise<Omit<PageContext, 'pages'>> {
  const written = await build({
    root: join(root, 'src/console/docs'),
    configFile: false,
    logLevel: 'error',
    publicDir: false,
    build: {
      outDir,
      emptyOutDir: false,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: ['docs.dom.ts', 'docs.css'].map((file) => join(root, 'src/console/docs', file)) },
    },
  })
  if (!('output' in written)) throw new Error('vite wrote nothing')
  const style = written.output.find(({ fileName }) => fileName.endsWith('.css'))?.fileName
  const script = written.output.find((file) => file.type === 'chunk' && file.isEntry)?.fileName
  const font = written.output.find(({ fileName }) => fileName.endsWith('.woff2'))?.fileName
  if (style === undefined || script === undefined || font === undefined)
    throw new Error('Vite did not write a style sheet, a script and a font')
  return { style: `/${style}`, script: `/${script}`, font: `/${font}` }
}
