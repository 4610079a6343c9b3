// The documentation as files: HTML and Markdown of every page, the index of the search, llms.txt. Written when Weir is
// built, so that a Worker serves files and holds none of it.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'vite'
import { CATALOGUE } from '../../../info/queries/catalogue.ts'
import { CHANNELS } from '../../../relay/channels/catalogue.ts'
import { ENDPOINTS } from '../../platform/catalogue.ts'
import { channelPages } from './channel-pages.ts'
import { endpointPages } from './endpoint-pages.ts'
import { infoPages } from './info-pages.ts'
import { pageHtml } from './layout.ts'
import { markdownHtml } from './markdown.node.ts'
import {
  allPage,
  channelList,
  endpointList,
  rpcMethodsPage,
  statusPage,
  typeList,
  webhooksPage,
} from './other-pages.ts'
import { llmsFullText, llmsText, markdownFile, type Page, searchIndex } from './page.ts'
import { DOCUMENTS, paragraphsOf, prosePages, rulesOf } from './prose-pages.ts'

/** All pages in the order of the menu, of what stands below `root` now. */
export function docsPages(root: string): Page[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const notes = (folder: string, definitions: readonly { readonly type: string }[]) => {
    const codes = new Map(globSync(`${folder}/*.ts`, { cwd: root }).map((path) => [basename(path, '.ts'), read(path)]))
    return new Map(definitions.map(({ type }) => [type, noteOf(type, codes)]))
  }
  const paths = globSync(DOCUMENTS, { cwd: root }).sort()
  const documents = new Map(paths.map((path) => [path, read(path)]))
  const endpoints = endpointPages(ENDPOINTS)
  const pages = [
    ...prosePages(documents),
    typeList(CATALOGUE),
    ...infoPages(CATALOGUE, {
      notes: notes('src/info/queries', CATALOGUE),
      paragraphs: paragraphsOf(documents.get('docs/info.md') ?? ''),
    }),
    channelList(CHANNELS),
    ...channelPages(CHANNELS, {
      notes: notes('src/relay/channels', CHANNELS),
      rules: rulesOf(documents.get('docs/ws-protocol.md') ?? ''),
    }),
    rpcMethodsPage(),
    webhooksPage(),
    endpointList(endpoints),
    ...endpoints,
    statusPage(),
  ]
  return [...pages, allPage(pages)]
}

/** What the first lines of a definition's own file say, or those above it where a file has several; without its name. */
function noteOf(type: string, codes: ReadonlyMap<string, string>): string | null {
  const [head = ''] = /^(?:\/\/.*\n)+/.exec(codes.get(type) ?? '') ?? []
  const above = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport const ${type}\\b`)
  const [, comment = ''] = (!codes.has(type) && above.exec([...codes.values()].join('\n'))) || []
  const said = `${head.replaceAll(/^\/\/ ?/gm, '')}${comment.replaceAll(/^ \* ?/gm, '')}`.trim()
  const text = said.replace(/^\w+: /, '').replace(/ ?\(\w[\w/-]*\.ts\)/g, '')
  return text === '' ? null : text.replace(/^./, (letter) => letter.toUpperCase())
}

/** Every file by its path below the folder that is served at `/`. */
export function docsFiles(pages: readonly Page[], loaded: { style: string; script: string }): Map<string, string> {
  const files = new Map<string, string>()
  for (const page of pages) {
    files.set(`${page.address.slice(1)}.html`, pageHtml(page, markdownHtml(page.markdown), { pages, ...loaded }))
    files.set(`${page.address.slice(1)}.md`, markdownFile(page))
  }
  files.set('docs/search.json', JSON.stringify(searchIndex(pages)))
  files.set('llms.txt', llmsText(pages))
  files.set('llms-full.txt', llmsFullText(pages))
  return files
}

/** Writes all of it into `outDir`, beside what is there. */
export async function writeDocs(root: string, outDir: string): Promise<void> {
  const files = docsFiles(docsPages(root), await writeLoaded(root, outDir))
  // Whoever has a key and no checkout takes it from here.
  files.set('docs/weir.py', readFileSync(join(root, 'client-python/weir.py'), 'utf8'))
  for (const [path, text] of files) {
    mkdirSync(dirname(join(outDir, path)), { recursive: true })
    writeFileSync(join(outDir, path), text)
  }
}

/** What pages load, bundled under names with hashes; answers their addresses. */
async function writeLoaded(root: string, outDir: string): Promise<{ style: string; script: string }> {
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
  const named = (ending: string) => written.output.find(({ fileName }) => fileName.endsWith(ending))?.fileName
  const style = named('.css')
  const script = named('.js')
  if (style === undefined || script === undefined) throw new Error('vite wrote no style or no script')
  return { style: `/${style}`, script: `/${script}` }
}
