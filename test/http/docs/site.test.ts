// Tests the built documentation: every definition has a page, every link has a target, and every example is valid.

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { typeDocumentPath } from '../../../src/http/docs/openapi.ts'
import { examplePath, graphqlSample, QUERY_EXAMPLES } from '../../../src/http/docs/site/definition-pages.ts'
import { fieldRows, meaningOf } from '../../../src/http/docs/site/field-table.ts'
import { headingsOf, llmsText, rewriteLines, searchIndex } from '../../../src/http/docs/site/page.ts'
import { DOCUMENTS, unplacedOf } from '../../../src/http/docs/site/prose-pages.ts'
import { docsFiles, docsPages } from '../../../src/http/docs/site/write-docs.node.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { publishedFrame } from '../../../src/relay/channel.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { graphqlSchema } from '../../../src/relay/graphql/schema.ts'

const pages = docsPages(join(import.meta.dirname, '../../..'))
const files = docsFiles(pages, { style: '/assets/docs.css', script: '/assets/docs.js' })
const addresses = pages.map(({ address }) => address)
const html = (address: string) => files.get(`${address.slice(1)}.html`)!
/** Paths served by the Worker and the console. */
const ELSEWHERE = [
  '/openapi.json',
  '/asyncapi.json',
  '/graphql/schema.graphql',
  '/status',
  '/live',
  '/console',
  '/llms.txt',
  ...CATALOGUE.map(({ type }) => typeDocumentPath(type)),
]
const LOADED = ['/assets/docs.css', '/assets/docs.js', '/icon.svg']

describe('the pages', () => {
  it('of documents are in the menu', () => {
    const paths = globSync(DOCUMENTS, { cwd: join(import.meta.dirname, '../../..') })
    expect(paths.length).toBeGreaterThan(50)
    expect(unplacedOf(new Map(paths.map((path) => [path, ''])))).toEqual([])
    expect(unplacedOf(new Map([['docs/new.md', '']]))).toEqual(['docs/new.md'])
  })

  it('exist once for every type, channel and endpoint', () => {
    expect(addresses.filter((address, at) => addresses.indexOf(address) !== at)).toEqual([])
    const wanted = [
      ...CATALOGUE.map(({ type }) => `/docs/info/${type}`),
      ...CHANNELS.map(({ type }) => `/docs/channels/${type}`),
      ...ENDPOINTS.map(({ id }) => `/docs/rest/${id}`),
    ]
    expect(wanted.filter((address) => !addresses.includes(address))).toEqual([])
    expect(html('/docs')).toContain('<title>Weir documentation</title>')
  })

  it('have valid links to pages and headings, also in Markdown', () => {
    const broken = pages.flatMap(({ address }) => {
      const page = html(address)
      const links = [...page.matchAll(/ href="([^"]+)"/g)].map(([, link]) => link!)
      return links.filter((link) => !isThere(link, address)).map((link) => `${address} → ${link}`)
    })
    expect(broken).toEqual([])
    const lost = pages.flatMap(({ address }) => {
      const text = files.get(`${address.slice(1)}.md`)!
      const targets: string[] = []
      rewriteLines(text, (line) => {
        targets.push(...[...line.matchAll(/\]\((\/docs[^)\s]*)\)/g)].map(([, target]) => target!))
        return line
      })
      return targets.filter((target) => target !== '/docs/all' && !files.has(target.split('#')[0]!.slice(1)))
    })
    expect(lost).toEqual([])
  })

  it('have unique heading anchors', () => {
    for (const { address } of pages) {
      const ids = [...html(address).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
      expect([address, ids.filter((id, at) => ids.indexOf(id) !== at)]).toEqual([address, []])
      expect([address, html(address).match(/<h1/g)?.length]).toEqual([address, 1])
    }
  })

  it('have no inline code and load nothing from other hosts', () => {
    for (const { address } of pages) {
      const page = html(address)
      expect([address, page.match(/<style| style=|<script>| on\w+="|src="(?!\/)/g)]).toEqual([address, null])
    }
  })

  it('describe types in words, and every field has a meaning', () => {
    const reference = pages.filter(({ address }) => /^\/docs\/(info|channels|rest)\/./.test(address))
    for (const { address, markdown } of reference)
      expect([address, markdown.match(/\$ref|anyOf|oneOf|additionalProperties|"pattern"|minLength/g)]).toEqual([
        address,
        null,
      ])
    const schemas = [
      ...CATALOGUE.flatMap(({ type, request, response }) => [
        [type, request],
        [type, response()],
      ]),
      ...CHANNELS.flatMap((channel) => [
        [channel.type, channel.request],
        [channel.type, publishedFrame(channel)],
      ]),
      ...ENDPOINTS.flatMap(({ id, query, body, responses }) =>
        [query, body?.schema, ...Object.values(responses).map(({ schema }) => schema)].map((schema) => [id, schema]),
      ),
    ] as unknown as readonly (readonly [string, z.ZodType | undefined])[]
    // A name that is not a word needs a description.
    const unsaid = schemas.flatMap(([owner, schema]) =>
      (schema === undefined ? [] : fieldRows(schema))
        .filter((row) => !/[a-z]{2}/i.test(meaningOf(row)))
        .map(({ path }) => `${owner}: ${path}`),
    )
    expect(unsaid).toEqual([])
  })
})

describe('page content', () => {
  it('is valid: JSON parses, and GraphQL subscriptions match the schema', () => {
    for (const { address, markdown } of pages.filter((page) => /\/(info|channels|rest)\/./.test(page.address))) {
      for (const [, text] of markdown.matchAll(/```json\n([\s\S]*?)\n```/g))
        expect(() => JSON.parse(text!), `${address}: ${text}`).not.toThrow()
    }
    for (const channel of CHANNELS) {
      const document = parse(graphqlSample(channel))
      expect([channel.type, validate(graphqlSchema(), document)]).toEqual([channel.type, []])
    }
  })

  it('calls endpoints with valid paths and queries', () => {
    for (const endpoint of ENDPOINTS) {
      const [path, query = ''] = examplePath(endpoint).split('?')
      const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
      const pattern = new RegExp(`^${endpoint.path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`)
      const parts = pattern.exec(path!)!.slice(1)
      for (const [at, name] of names.entries()) {
        const read = endpoint.params![name]!.safeParse(parts[at])
        expect([endpoint.id, name, read.success]).toEqual([endpoint.id, name, true])
      }
      const sent = Object.fromEntries(new URLSearchParams(query))
      if (endpoint.query) expect([endpoint.id, endpoint.query.safeParse(sent).success]).toEqual([endpoint.id, true])
    }
    expect(Object.keys(QUERY_EXAMPLES).filter((id) => !ENDPOINTS.some((endpoint) => endpoint.id === id))).toEqual([])
  })

  it('is escaped', () => {
    const page = {
      ...pages[0]!,
      address: '/docs',
      title: '<b>',
      summary: '"&',
      markdown: '# <script>x</script>\n\n<img src=x onerror=y>',
    }
    const text = docsFiles([page], { style: '/s', script: '/j' }).get('docs.html')!
    expect(text).toContain('&lt;script&gt;')
    expect(text).toContain('&lt;img src=x onerror=y&gt;')
    expect(text).toContain('content="&quot;&amp;"')
  })
})

describe('the machine-readable indexes', () => {
  it('include a search index with every page and its terms', () => {
    const index = searchIndex(pages)
    expect(index.map(({ address }) => address)).toEqual(addresses)
    expect(index.find(({ address }) => address === '/docs/info/l2Book')!.words).toContain('nsigfigs')
  })

  it('include llms.txt, with links to the Markdown of every page except the list of all pages', () => {
    const links = [...llmsText(pages).matchAll(/^- \[[^\]]+\]\((\/[^)]+)\): \S/gm)].map(([, link]) => link!)
    expect(links).toHaveLength(pages.length - 1)
    expect(links.filter((link) => !files.has(link.slice(1)))).toEqual([])
  })
})

function isThere(link: string, from: string): boolean {
  if (/^https?:/.test(link) || LOADED.includes(link) || ELSEWHERE.includes(link)) return true
  const [path, anchor] = link.split('#') as [string, string?]
  if (path.endsWith('.md')) return files.has(path.slice(1))
  const page = pages.find(({ address }) => address === (path === '' ? from : path))
  if (page === undefined) return false
  return anchor === undefined || html(page.address).includes(` id="${anchor}"`)
}

it('headings in code do not count, and repeated ones get unique anchors', () => {
  expect(headingsOf('# A\n\n```sh\n# no\n```\n\n## B\n## B')).toEqual([
    { depth: 1, text: 'A', anchor: 'a' },
    { depth: 2, text: 'B', anchor: 'b' },
    { depth: 2, text: 'B', anchor: 'b-1' },
  ])
})
