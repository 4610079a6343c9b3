// The documentation as files: HTML and Markdown of every page, the index of the search, llms.txt. Written when Weir is
// built, so that a Worker serves files and holds none of it.

import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { build } from 'vite'
import { CATALOGUE } from '../../../info/queries/catalogue.ts'
import { CHANNELS } from '../../../relay/channels/catalogue.ts'
import { ENDPOINTS } from '../../platform/catalogue.ts'
import { pageHtml } from './layout.ts'
import { llmsFullText, llmsText, searchIndex } from './machine-files.ts'
import { markdownHtml } from './markdown.node.ts'
import { markdownFile, type Page } from './page.ts'
import { DOCUMENTS } from './prose-pages.ts'
import { definitionNote, headNote, sitePages } from './site-pages.ts'

/** Below `root`, as they stand there now. */
export function docsPages(root: string): Page[] {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const notes = (folder: string, names: readonly string[]) => {
    const codes = new Map(globSync(`${folder}/*.ts`, { cwd: root }).map((path) => [basename(path, '.ts'), read(path)]))
    const noteOf = (name: string) => {
      const own = codes.get(name)
      return own === undefined ? definitionNote([...codes.values()].join(''), name) : headNote(own)
    }
    return new Map(
      names.map((name) => [name, noteOf(name)] as const).filter((one): one is [string, string] => one[1] !== null),
    )
  }
  return sitePages({
    queries: CATALOGUE,
    channels: CHANNELS,
    operations: ENDPOINTS,
    documents: new Map(
      globSync(DOCUMENTS, { cwd: root })
        .sort()
        .map((path) => [path, read(path)]),
    ),
    queryNotes: notes(
      'src/info/queries',
      CATALOGUE.map(({ type }) => type),
    ),
    channelNotes: notes(
      'src/relay/channels',
      CHANNELS.map(({ type }) => type),
    ),
  })
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
