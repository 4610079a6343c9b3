// Tests the built documentation: every definition has a page, every link has a target, and every example is valid.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, validate } from 'graphql'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { type FormInput, requestBody, requestPath, textsOf } from '../../../src/console/requests/request-form.ts'
import { typeDocumentPath } from '../../../src/http/docs/openapi.ts'
import { examplePath, graphqlSample, QUERY_EXAMPLES } from '../../../src/http/docs/site/definition-pages.ts'
import { fieldRows, meaningOf } from '../../../src/http/docs/site/field-table.ts'
import { headingsOf, llmsText, rewriteLines, type TryRequest } from '../../../src/http/docs/site/page.ts'
import { DOCUMENTS, unplacedOf } from '../../../src/http/docs/site/prose-pages.ts'
import { searchEntries } from '../../../src/http/docs/site/search-entries.ts'
import { byGroup, CHANNEL_GROUPS, TYPE_GROUPS } from '../../../src/http/docs/site/type-groups.ts'
import { docsFiles, docsPages } from '../../../src/http/docs/site/write-docs.node.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import { publishedFrame } from '../../../src/relay/channel.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'
import { graphqlSchema } from '../../../src/relay/graphql/schema.ts'

const pages = docsPages(join(import.meta.dirname, '../../..'))
const files = docsFiles(pages, { style: '/assets/docs.css', script: '/assets/docs.js', font: '/assets/inter.woff2' })
const addresses = pages.map(({ address }) => address)
const html = (address: string) => files.get(`${address.slice(1)}.html`)!
/** Paths served by the Worker and the console. */
const ELSEWHERE = [
  '/openapi.json',
  '/openapi-3.0.json',
  '/asyncapi.json',
  '/graphql/schema.graphql',
  '/status',
  '/live',
  '/console',
  '/',
  '/llms.txt',
  ...CATALOGUE.map(({ type }) => typeDocumentPath(type)),
]
const LOADED = ['/assets/docs.css', '/assets/docs.js', '/assets/inter.woff2', '/icon.svg', '/docs/changelog.atom']

const NOW_MS = 1_800_000_000_000
const withoutTimes = (value: unknown) =>
  JSON.parse(JSON.stringify(value, (name, each) => (/^(start|end)Time$/.test(name) ? undefined : each)))

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

  it('include those to which the pages for visitors link', () => {
    for (const name of ['index', 'not-found']) {
      const text = readFileSync(join(import.meta.dirname, `../../../src/console/${name}.html`), 'utf8')
      const links = [...text.matchAll(/ (?:href|action)="(\/[^"]*)"/g)].map(([, link]) => link!)
      expect(links.filter((link) => link.startsWith('/docs')).length).toBeGreaterThan(3)
      expect(links.filter((link) => ![...addresses, ...ELSEWHERE, ...LOADED].includes(link))).toEqual([])
    }
  })

  it('are in the map for search engines', () => {
    const listed = [...files.get('sitemap.xml')!.matchAll(/<loc><!--weir:origin-->([^<]+)<\/loc>/g)].map(
      ([, path]) => path,
    )
    expect(listed).toEqual(['/', '/live', '/status', ...addresses])
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
    const text = docsFiles([page], { style: '/s', script: '/j', font: '/f' }).get('docs.html')!
    expect(text).toContain('&lt;script&gt;')
    expect(text).toContain('&lt;img src=x onerror=y&gt;')
    expect(text).toContain('content="&quot;&amp;"')
  })
})

describe('the form of a request', () => {
  const inputsOf = ({ fields }: TryRequest): FormInput[] =>
    fields.map(({ name, place, kind, value, agoMs, isRequired }) => ({
      name,
      place,
      kind,
      isRequired,
      text: agoMs === null ? value : String(NOW_MS - agoMs),
    }))

  it('sends the example of each type, with times before now', () => {
    const forms = pages.flatMap(({ request }) => (request?.base?.type === undefined ? [] : [request]))
    expect(forms.map(({ base }) => base!.type).sort()).toEqual(CATALOGUE.map(({ type }) => type).sort())
    for (const form of forms) {
      const query = CATALOGUE.find(({ type }) => type === form.base!.type)!
      const sent = requestBody(form.base!, inputsOf(form))
      const parsed = query.request.safeParse(sent)
      expect([query.type, parsed.success]).toEqual([query.type, true])
      // Empty fields are not sent, and an absent field is its default.
      const example = query.request.parse({ type: query.type, ...query.example.request })
      expect(withoutTimes(parsed.data)).toEqual(withoutTimes(example))
      expect(new Map(inputsOf(form).map(({ name, text }) => [name, text]))).toEqual(textsOf(sent, inputsOf(form)))
    }
    const candles = forms.find(({ base }) => base!.type === 'candleSnapshot')!
    expect(requestBody(candles.base!, inputsOf(candles))).toMatchObject({
      req: { startTime: NOW_MS - 3_600_000, endTime: NOW_MS },
    })
  })

  it('calls each GET endpoint like the sample', () => {
    const operations = ENDPOINTS.filter(({ method }) => method === 'get')
    expect(operations.length).toBeGreaterThan(20)
    for (const operation of operations) {
      const { request } = pages.find(({ address }) => address === `/docs/rest/${operation.id}`)!
      const path = decodeURIComponent(requestPath(request!.path, inputsOf(request!)))
      expect(new Set(path.split(/[?&]/))).toEqual(new Set(examplePath(operation).split(/[?&]/)))
    }
  })

  it('sends the example of each call with a JSON object, and says that it takes effect', () => {
    const tried = ENDPOINTS.filter(({ body }) => body && !body.isBinary && body.gzipBytes === undefined)
    const formOf = (id: string) => pages.find(({ address }) => address === `/docs/rest/${id}`)?.request
    const withForm = tried.filter(({ id }) => formOf(id)?.base)
    // Their fields depend on each other, or must be null.
    const without = [
      'makeStreamToken',
      ...['createPipeline', 'changePipeline', 'testPipeline', 'previewPipeline', 'backfillPipeline'],
      ...['importAccount', 'importPipeline'],
    ]
    expect(tried.filter((each) => !withForm.includes(each)).map(({ id }) => id)).toEqual(without)
    expect(withForm.length).toBeGreaterThan(15)
    for (const { id, body, path } of withForm) {
      const form = formOf(id)!
      const sent = body!.schema.safeParse(requestBody(form.base!, inputsOf(form)))
      // A form has no text for null.
      const texts = Object.entries(body!.example as object).filter(([, value]) => value !== null)
      expect([id, sent.data]).toEqual([id, body!.schema.parse(Object.fromEntries(texts))])
      expect(requestPath(form.path, inputsOf(form))).not.toContain('{')
      expect(form.path).toBe(path)
      expect(html(`/docs/rest/${id}`)).toContain('which takes effect immediately')
    }
  })

  it('has the only values of a field as choices', () => {
    const form = pages.find(({ address }) => address === '/docs/info/candleSnapshot')!.request!
    expect(form.fields.map(({ name, choices }) => [name, choices.length])).toEqual([
      ['req.coin', 0],
      ['req.interval', 14],
      ['req.startTime', 0],
      ['req.endTime', 0],
    ])
    expect(html('/docs/info/candleSnapshot')).toContain('<option selected>1m</option>')
  })
})

it('samples compute times in each language', () => {
  const { markdown } = pages.find(({ address }) => address === '/docs/info/candleSnapshot')!
  const [, code = ''] = markdown.split('## Code\n')
  expect(code).toContain(`"startTime":'$((($(date +%s) - 3600) * 1000))',"endTime":'`)
  expect(code).toContain('startTime: Date.now() - 3_600_000, endTime: Date.now() }')
  expect(code).toContain('"startTime": int(time.time() * 1000) - 3_600_000')
  expect(code).toContain('import json, os, time, urllib.request')
})

it('every type and channel is in one group of the menu', () => {
  for (const [groups, definitions] of [
    [TYPE_GROUPS, CATALOGUE],
    [CHANNEL_GROUPS, CHANNELS],
  ] as const) {
    const names = groups.flatMap(([, each]) => each.split(/\s+/))
    expect(names.sort()).toEqual(definitions.map(({ type }) => type).sort())
    expect(() => byGroup([{ type: 'new' }], groups)).toThrow('new is in no group')
  }
  expect(html('/docs/info/l2Book')).toContain('<p>Market data</p><ul>')
})

describe('the machine-readable indexes', () => {
  it('include search entries of every page except the list of all pages, and of every error code', () => {
    const entries = searchEntries(pages)
    const found = new Set(entries.map(({ address }) => address))
    expect(addresses.filter((address) => !found.has(address))).toEqual(['/docs/all'])
    expect(entries.find(({ address }) => address === '/docs/info/l2Book')!.keywords).toContain('nSigFigs')
    const codes = entries.filter(({ address }) => address.startsWith('/docs/reference/errors#'))
    expect(codes.map(({ title }) => title)).toEqual(expect.arrayContaining(['rate_limited (429)', '4413', 'gap']))
    expect(
      entries.filter(({ address }) => address.includes('#')).filter(({ address }) => !isThere(address, '')),
    ).toEqual([])
    // Each sentence of a page can be searched, but no code.
    expect(entries.find(({ address }) => address === '/docs/reference/pricing')!.body).toContain(
      'Purchased credits never',
    )
    expect(JSON.stringify(entries)).not.toContain('urllib')
  })

  it('include an Atom feed of the dated versions', () => {
    const feed = files.get('docs/changelog.atom')!
    const { markdown } = pages.find(({ address }) => address === '/docs/changelog')!
    const dated = markdown.match(/^## \[.*\] - \d/gm)!
    expect(feed.match(/<entry>/g)).toHaveLength(dated.length)
    expect(feed).not.toContain('Unreleased')
    expect(feed).toContain('<updated>2026-11-28T00:00:00Z</updated>\n<link href="/docs/changelog#020---2026-11-28"/>')
    expect(isThere('/docs/changelog#020---2026-11-28', '')).toBe(true)
    expect(html('/docs/changelog')).toContain('type="application/atom+xml"')
    // HTML of an entry is escaped, so that the file has no other elements.
    expect([...new Set(feed.match(/<\/?\w+/g))].filter((tag) => /<(p|ul|li|h\d|code)$/.test(tag))).toEqual([])
  })

  it('include short addresses of existing pages', () => {
    const lines = readFileSync(join(import.meta.dirname, '../../../src/console/public/_redirects'), 'utf8')
      .trim()
      .split('\n')
    const targets = lines.map((line) => line.split(' ')[1]!)
    expect(targets).toEqual(expect.arrayContaining(['/docs/reference/authentication', '/docs/reference/pricing']))
    expect(targets.filter((target) => !addresses.includes(target))).toEqual([])
    expect(files.get('docs/addresses.txt')!.split('\n')).toEqual(addresses)
  })

  it('include llms.txt, with links to the Markdown of every page except the list of all pages', () => {
    const links = [...llmsText(pages).matchAll(/^- \[[^\]]+\]\((\/[^)]+)\): \S/gm)].map(([, link]) => link!)
    expect(links).toHaveLength(pages.length - 1)
    expect(links.filter((link) => !files.has(link.slice(1)))).toEqual([])
  })
})

function isThere(link: string, from: string): boolean {
  if (/^https?:/.test(link) || LOADED.includes(link) || ELSEWHERE.includes(link.replace(/\?.*/, ''))) return true
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
