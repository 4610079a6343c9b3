import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { addCommonReplies } from '../../src/http/common-replies.route.ts'

const app = new Hono()
addCommonReplies(app, { requestId: () => 'req_1', report: () => undefined, page: async () => null })
app.get('/', (c) => c.text(''))
app.post('/info', (c) => c.text(''))
app.get('/platform/key/', (c) => c.text(''))
app.get('/feed', (c) => c.notFound())
app.post('/admin/keys', (c) => c.text(''))
app.get('/admin/keys', (c) => c.text(''))

async function told(method: string, path: string) {
  const answer = await app.request(path, { method })
  const body = (await answer.json()) as { error_message?: string; msg?: string }
  return [answer.status, body.error_message ?? body.msg]
}

describe('a request without a route', () => {
  it.each([
    ['POST', '/infos', 'POST /info'],
    ['POST', '/api/v1/info', 'POST /info'],
    ['GET', '/infos', 'POST /info'],
    ['GET', '/platform/keys', 'GET /platform/key/'],
    ['POST', '/admin/key', 'POST /admin/keys'],
    ['PUT', '/admin/key', 'GET /admin/keys'],
    ['GET', '/nothing', null],
    ['GET', '/feed', null],
    ['GET', '/feeds', null],
    ['GET', `/k/cqt_${'x'.repeat(26)}/infos`, null],
  ])('%s %s suggests %s', async (method, path, meant) => {
    const [status, message = ''] = await told(method, path)
    expect([status, /did you mean (.*)\?/.exec(String(message))?.[1] ?? null]).toEqual([404, meant])
  })

  it('with another method gets a usage hint', async () => {
    expect(await told('PUT', '/platform/key/')).toEqual([405, expect.stringContaining('GET, HEAD, OPTIONS')])
    for (const [method, path] of [
      ['GET', '/info'],
      ['PUT', '/info'],
      ['POST', '/'],
    ] as const) {
      const [status, message] = await told(method, path)
      expect([status, message]).toEqual([405, expect.stringMatching(/POST \/info .*\{"type":/)])
    }
  })
})
