// The published documents: OpenAPI as a client reads it, the route that serves it, the tables in docs/.

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { channelTable } from '../../scripts/channel-table.ts'
import { infoTable } from '../../scripts/info-table.ts'
import { withPart } from '../../scripts/marked.ts'
import { LowBalanceEvent, lowBalanceBody, TestEvent, testBody } from '../../src/credit/webhooks/webhook.ts'
import { docsRoutes } from '../../src/docs/docs.route.ts'
import { openApiDocument } from '../../src/docs/openapi.ts'
import { EVENTS } from '../../src/docs/openapi-webhooks.ts'
import { CATALOGUE, queryOf } from '../../src/info/catalogue.ts'
import { ENDPOINTS } from '../../src/platform/catalogue.ts'
import { CHANNELS } from '../../src/stream/catalogue.ts'

interface Content {
  readonly 'application/json': { readonly schema: object; readonly example: unknown }
}
interface Document {
  readonly openapi: string
  readonly paths: Readonly<
    Record<
      string,
      {
        readonly post: {
          readonly description: string
          readonly requestBody: { readonly content: Content }
          readonly responses: Readonly<Record<string, { readonly content: Content }>>
        }
      }
    >
  >
}

const document = openApiDocument(CATALOGUE, ENDPOINTS) as unknown as Document
const infoPaths = Object.entries(document.paths).filter(([path]) => path.startsWith('/info#'))

describe('openapi.json', () => {
  it('has a path per type with a request and an answer that fit', () => {
    expect(document.openapi).toBe('3.1.0')
    expect(infoPaths.map(([path]) => path)).toEqual(CATALOGUE.map(({ type }) => `/info#${type}`).sort())
    for (const [path, { post }] of infoPaths) {
      const query = queryOf(path.slice('/info#'.length))!
      query.request.parse(post.requestBody.content['application/json'].example)
      query.response.parse(post.responses[200]!.content['application/json'].example)
      expect(post.requestBody.content['application/json'].schema).toMatchObject({
        properties: { type: { const: query.type } },
      })
      expect(Object.keys(post.responses)).toEqual(expect.arrayContaining(['401', '402', '422', '502']))
    }
  })

  it('says what a query costs', () => {
    const costOf = (type: string) => document.paths[`/info#${type}`]!.post.description.split('. ')[0]
    expect(costOf('meta')).toBe('Credits: 1')
    expect(costOf('clearinghouseState')).toBe('Credits: 1, 10 flat for `dex` `*` or `ALL_DEXES`')
  })

  it('lets answers gain fields', () => {
    expect(JSON.stringify(infoPaths)).not.toContain('"additionalProperties":false')
    for (const { answers } of ENDPOINTS) {
      for (const { schema } of Object.values(answers)) {
        expect(JSON.stringify(z.toJSONSchema(schema, { io: 'input' }))).not.toContain('"additionalProperties":false')
      }
    }
  })

  it('refers to nothing that it does not hold', () => {
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref!)
    expect(refs.length).toBeGreaterThan(500)
    const found = (ref: string) =>
      ref
        .slice('#/'.length)
        .split('/')
        .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], document)
    expect(refs.filter((ref) => !ref.startsWith('#/components/') || found(ref) === undefined)).toEqual([])
  })

  it('says how the WebSocket is opened, and with what it is refused', () => {
    const { get } = document.paths['/ws'] as unknown as {
      get: { parameters: { name: string; in: string }[]; responses: Record<string, { $ref?: string }> }
    }
    expect(get.parameters).toMatchObject([{ name: 'key', in: 'query' }])
    expect(Object.keys(get.responses)).toEqual(['101', '401', '402', '403', '422', '429', '503'])
    for (const [status, { $ref }] of Object.entries(get.responses).slice(1))
      expect($ref).toBe(`#/components/responses/${status}`)
  })

  it('has the events that are sent to webhooks, each with an example that fits', () => {
    const { webhooks } = document as unknown as { webhooks: Record<string, { post: { requestBody: unknown } }> }
    expect(Object.keys(webhooks)).toEqual(['credits.low', 'pipeline.paused', 'test'])
    for (const { schema, example } of EVENTS) {
      expect(webhooks[example.type]!.post.requestBody).toMatchObject({ content: { 'application/json': { example } } })
      expect(schema.parse(example)).toEqual(example)
    }
    const low = { id: 'evt_1', account: 'a', threshold: '0', leftMicro: 1, mostMicro: 2, createdMs: 3 }
    LowBalanceEvent.strict().parse(JSON.parse(lowBalanceBody(low)))
    TestEvent.strict().parse(JSON.parse(testBody('evt_2', 'a', 3)))
  })

  it('is served without a key, the same every time', async () => {
    const routes = docsRoutes(ENDPOINTS, '')
    for (let i = 0; i < 2; i++) {
      const response = await routes.request('/openapi.json')
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
      expect(await response.json()).toEqual(document)
    }
  })
})

describe('what is served for programs', () => {
  const SDL = 'type Query'
  const routes = docsRoutes(ENDPOINTS, SDL)

  it('has the schema of GraphQL as it is given', async () => {
    const { status, headers, text } = await asked('/graphql/schema.graphql')
    expect([status, headers.get('content-type'), text]).toEqual([200, 'text/plain; charset=utf-8', SDL])
  })

  it.each(['/openapi.json', '/asyncapi.json', '/graphql/schema.graphql'])(
    '%s is not sent again to who has it',
    async (path) => {
      const { headers, text } = await asked(path)
      const etag = headers.get('etag')!
      expect([headers.get('cache-control'), etag]).toEqual([
        'public, max-age=300',
        expect.stringMatching(/^W\/"[\w-]{16,}"$/),
      ])
      for (const known of [etag, etag.slice(2), `"other", ${etag}`]) {
        const again = await asked(path, { 'if-none-match': known })
        expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
      }
      expect((await asked(path, { 'if-none-match': 'W/"other"' })).text).toBe(text)
      expect((await docsRoutes([], 'type Other').request(path)).headers.get('etag') === etag).toBe(
        path === '/asyncapi.json',
      )
    },
  )

  it('is short on the wire', async () => {
    const { headers } = await asked('/openapi.json', { 'accept-encoding': 'gzip, br' })
    expect(headers.get('content-encoding')).toBe('br')
  })

  async function asked(path: string, headers: Record<string, string> = {}) {
    const response = await routes.request(path, { headers })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
})

describe.each([
  ['info types', 'docs/info.md', infoTable(), CATALOGUE],
  ['channels', 'docs/ws-protocol.md', channelTable(), CHANNELS],
] as const)('the table of %s', (name, path, table, catalogue) => {
  it('lists every one once', () => {
    const listed = [...table.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell]) => cell!.split(', '))
    expect(listed.sort()).toEqual(catalogue.map(({ type }) => `\`${type}\``).sort())
  })

  it('stands in its document as the catalogue has it', () => {
    const document = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    expect(withPart(document, name, table)).toBe(document)
  })
})

describe('a generated part', () => {
  it('is put between its markers and nowhere else', () => {
    const stale = 'a\n<!-- x -->\nold\n<!-- /x -->\nb'
    expect(withPart(stale, 'x', 'new')).toBe('a\n<!-- x -->\nnew\n<!-- /x -->\nb')
    expect(withPart('<!-- x -->\n<!-- /x -->', 'x', 'new')).toBe('<!-- x -->\nnew\n<!-- /x -->')
  })

  it('is not lost where a marker is', () => {
    for (const text of ['no markers', '<!-- x -->', '<!-- /x -->\n<!-- x -->'])
      expect(() => withPart(text, 'x', 'new')).toThrow('markers')
  })
})
