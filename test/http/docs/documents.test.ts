// The published documents: OpenAPI, its route, and the tables in docs/.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { channelTable, infoTable } from '../../../scripts/document-tables.ts'
import { withPart } from '../../../scripts/marked.ts'
import { docsRoutes } from '../../../src/http/docs/docs.route.ts'
import { openApiDocument, typeDocument, typeDocumentPath } from '../../../src/http/docs/openapi.ts'
import { EVENTS } from '../../../src/http/docs/openapi-operations.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'
import {
  ALERT_TYPES,
  LowBalanceEvent,
  lowBalanceBody,
  TestEvent,
  testBody,
} from '../../../src/metering/webhooks/webhook.ts'
import { CHANNELS } from '../../../src/relay/channels/catalogue.ts'

interface Operation {
  readonly operationId?: string
  readonly description: string
  readonly requestBody: { readonly content: { readonly 'application/json': object } }
  readonly responses: Readonly<Record<string, { readonly content: { readonly 'application/json': object } }>>
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>
interface Document {
  readonly openapi: string
  readonly info: object
  readonly paths: Paths
  readonly webhooks: Paths
  readonly 'x-websockets': Paths
  readonly components: { readonly schemas: Readonly<Record<string, { readonly description: string }>> }
}

const document = openApiDocument(CATALOGUE, ENDPOINTS) as unknown as Document
const { schemas } = document.components
const TYPES = CATALOGUE.map(({ type }) => type).sort()
const ofTypes = CATALOGUE.map((query) => [query, typeDocument(query) as unknown as Document] as const)
const documents = [document, ...ofTypes.map(([, one]) => one)]
const operationsOf = ({ paths, webhooks = {} }: Document) =>
  [paths, webhooks].flatMap((by) => Object.values(by).flatMap((methods) => Object.values(methods)))
const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const nameOf = (type: string) => type[0]!.toUpperCase() + type.slice(1)
const byType = (value: (type: string) => unknown) => Object.fromEntries(TYPES.map((type) => [type, value(type)]))

describe('openapi.json', () => {
  it('has POST /info once, with a request and a response of every type', () => {
    expect(document.openapi).toBe('3.1.0')
    const { post } = document.paths['/info']!
    const requests = byType((type) => refTo(`${nameOf(type)}Request`).$ref)
    expect(schemas.InfoRequest).toEqual({
      oneOf: TYPES.map((type) => refTo(`${nameOf(type)}Request`)),
      discriminator: { propertyName: 'type', mapping: requests },
    })
    expect(schemas.InfoAnswer).toMatchObject({ anyOf: TYPES.map((type) => refTo(`${nameOf(type)}Answer`)) })
    expect(schemas.InfoAnswerByType).toMatchObject({ properties: byType((type) => refTo(`${nameOf(type)}Answer`)) })
    for (const type of TYPES) {
      const request = { properties: { type: { const: type } }, required: expect.arrayContaining(['type']) }
      expect(schemas[`${nameOf(type)}Request`]).toMatchObject(request)
      expect(schemas[`${nameOf(type)}Answer`], type).toBeDefined()
    }
    const [asked, answered] = [post!.requestBody, post!.responses[200]!].map(
      ({ content }) => content['application/json'] as { examples: Readonly<Record<string, { value: unknown }>> },
    )
    for (const { type, request, response } of CATALOGUE) {
      request.parse(asked!.examples[type]!.value)
      response().parse(answered!.examples[type]!.value)
    }
    expect(Object.keys(post!.responses)).toEqual(expect.arrayContaining(['401', '402', '422', '502']))
  })

  it('has a separate document per type with its response', async () => {
    const routes = docsRoutes(ENDPOINTS, '')
    for (const [{ type, request, response, example }, one] of ofTypes) {
      const { post } = one.paths['/info']!
      expect(post).toMatchObject({
        operationId: type,
        requestBody: { content: { 'application/json': { schema: { properties: { type: { const: type } } } } } },
        responses: { 200: { content: { 'application/json': { example: example.response } } } },
      })
      const { example: asked } = post!.requestBody.content['application/json'] as { example?: unknown }
      request.parse(asked)
      response().parse(example.response)
      const answer = await routes.request(typeDocumentPath(type))
      expect([answer.status, await answer.json()]).toEqual([200, one])
    }
    for (const path of ['/openapi/info/none.json', '/openapi/info/meta', '/openapi/info/toString.json'])
      expect((await routes.request(path)).status).toBe(404)
  })

  it('suits generators: paths without fragments, operations with a unique id and a 2xx response', () => {
    for (const one of documents) {
      expect(one.info).toMatchObject({ license: { name: 'MIT', identifier: 'MIT' } })
      expect(Object.keys(one.paths).filter((path) => /[#?]/.test(path))).toEqual([])
      const ids = operationsOf(one).map(({ operationId }) => operationId)
      expect(ids.filter((id, at) => id === undefined || ids.indexOf(id) !== at)).toEqual([])
      const noSuccess = operationsOf(one).filter(({ responses }) => !Object.keys(responses).some((s) => /^2/.test(s)))
      expect(noSuccess.map(({ operationId }) => operationId)).toEqual([])
      // Some generators read such a tuple as an empty array.
      expect(JSON.stringify(one)).not.toContain('"items":false')
    }
    expect(Object.keys(schemas).filter((name) => !/^[A-Za-z]\w*$/.test(name))).toEqual([])
    const folded = Object.keys(schemas).map((name) => name.toLowerCase())
    expect(new Set(folded).size).toBe(folded.length)
  })

  it('states the price of each query', () => {
    const costOf = (name: string) => /(Credits: .*?)\. /.exec(schemas[`${name}Request`]!.description)![1]
    expect(costOf('Meta')).toBe('Credits: 1')
    expect(costOf('ClearinghouseState')).toBe('Credits: 1, 10 flat if `dex` is `*` or `ALL_DEXES`')
  })

  it('allows responses to gain fields', () => {
    expect(JSON.stringify(documents.slice(1))).not.toContain('"additionalProperties":false')
    for (const { responses } of ENDPOINTS) {
      for (const { schema } of Object.values(responses)) {
        expect(JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))).not.toContain('"additionalProperties":false')
      }
    }
  })

  it('has no dangling references', () => {
    for (const one of documents) {
      const refs = [...JSON.stringify(one).matchAll(/"(#\/[^"]+)"/g)].map(([, ref]) => ref!)
      expect(refs.length).toBeGreaterThan(10)
      const found = (ref: string) =>
        ref
          .slice('#/'.length)
          .split('/')
          .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], one)
      expect(refs.filter((ref) => !ref.startsWith('#/components/') || found(ref) === undefined)).toEqual([])
    }
  })

  it('describes socket upgrades and their errors outside the paths', () => {
    const { get } = document['x-websockets']['/ws'] as unknown as {
      get: { parameters: { name: string; in: string }[]; responses: Record<string, { $ref?: string }> }
    }
    expect(get.parameters).toMatchObject([{ name: 'key', in: 'query' }])
    expect(Object.keys(get.responses)).toEqual(['101', '401', '402', '403', '422', '429', '503'])
    for (const [status, { $ref }] of Object.entries(get.responses).slice(1))
      expect($ref).toBe(`#/components/responses/${status}`)
    expect(Object.keys(document['x-websockets'])).toEqual(['/ws', '/graphql'])
  })

  it('has the webhook events, each with a valid example', () => {
    const { webhooks } = document
    expect(Object.keys(webhooks)).toEqual(['credits.low', 'pipeline.paused', 'top_up.stopped', ...ALERT_TYPES, 'test'])
    for (const { schema, example } of EVENTS) {
      expect(webhooks[example.type]!.post!.requestBody).toMatchObject({ content: { 'application/json': { example } } })
      expect(schema.parse(example)).toEqual(example)
    }
    const low = { id: 'evt_1', account: 'a', threshold: '0', leftMicro: 1, mostMicro: 2, createdMs: 3 }
    LowBalanceEvent.strict().parse(JSON.parse(lowBalanceBody(low)))
    TestEvent.strict().parse(JSON.parse(testBody('evt_2', 'a', 3)))
  })

  it('is served without a key, with identical bytes', async () => {
    const routes = docsRoutes(ENDPOINTS, '')
    for (let i = 0; i < 2; i++) {
      const response = await routes.request('/openapi.json')
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(await response.json()).toEqual(document)
    }
  })
})

describe('the machine-readable documents', () => {
  const SDL = 'type Query'
  const routes = docsRoutes(ENDPOINTS, SDL)

  it('include the GraphQL schema unchanged', async () => {
    const { status, headers, text } = await asked('/graphql/schema.graphql')
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/plain; charset=utf-8', SDL])
  })

  it.each([
    '/openapi.json',
    '/openapi-3.0.json',
    '/openapi/info/l2Book.json',
    '/asyncapi.json',
    '/graphql/schema.graphql',
  ])('%s is not sent again to who has it', async (path) => {
    const { headers, text } = await asked(path)
    const etag = headers.get('etag')!
    expect(etag).toMatch(/^W\/"[\w-]{16,}"$/)
    expect([headers.get('cache-control'), headers.get('access-control-allow-origin')]).toEqual([
      'public, max-age=300',
      '*',
    ])
    for (const known of [etag, etag.slice(2), `"other", ${etag}`]) {
      const again = await asked(path, { 'if-none-match': known })
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
    }
    expect((await asked(path, { 'if-none-match': 'W/"other"' })).text).toBe(text)
    expect((await docsRoutes([], 'type Other').request(path)).headers.get('etag') === etag).toBe(
      ['/openapi/info/l2Book.json', '/asyncapi.json'].includes(path),
    )
  })

  it('include a sitemap of all pages, with the host that serves it', async () => {
    const fetch = async (url: string) => new Response(url.endsWith('/docs/addresses.txt') ? '/docs\n/docs/a' : '')
    const response = await routes.request('https://a&b.example/docs/sitemap.xml', {}, { ASSETS: { fetch } })
    expect(response.headers.get('content-type')).toBe('application/xml')
    const places = [...(await response.text()).matchAll(/<loc>(.*)<\/loc>/g)].map(([, place]) => place)
    expect(places).toEqual(['https://a&amp;b.example/docs', 'https://a&amp;b.example/docs/a'])
    expect((await routes.request('/docs/sitemap.xml', {}, {})).status).toBe(404)
  })

  it('are compressed', async () => {
    const { headers } = await asked('/openapi.json', { 'accept-encoding': 'gzip, br' })
    expect(headers.get('content-encoding')).toBe('br')
  })

  async function asked(path: string, headers: Record<string, string> = {}) {
    const response = await routes.request(path, { headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
})

describe.each([
  ['info types', 'docs/reference/info.md', infoTable(), CATALOGUE],
  ['channels', 'docs/reference/websocket.md', channelTable(), CHANNELS],
] as const)('the table of %s', (name, path, table, catalogue) => {
  it('lists each entry once', () => {
    const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => cell!.split(', '))
    expect(listed.sort()).toEqual(catalogue.map(({ type }) => `\`${type}\``).sort())
  })

  it('matches the catalog', () => {
    const document = readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
    expect(withPart(document, name, table)).toBe(document)
  })
})

describe('a generated part', () => {
  it('is inserted only between its markers', () => {
    const stale = 'a\n<!-- x -->\nold\n<!-- /x -->\nb'
    expect(withPart(stale, 'x', 'new')).toBe('a\n<!-- x -->\nnew\n<!-- /x -->\nb')
    expect(withPart('<!-- x -->\n<!-- /x -->', 'x', 'new')).toBe('<!-- x -->\nnew\n<!-- /x -->')
  })

  it('is not lost if a marker is missing', () => {
    for (const text of ['no markers', '<!-- x -->', '<!-- /x -->\n<!-- x -->'])
      expect(() => withPart(text, 'x', 'new')).toThrow('markers')
  })
})
