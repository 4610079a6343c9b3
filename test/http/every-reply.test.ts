import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { everyReply } from '../../src/http/every-reply.route.ts'

const DOCS = 'GET /docs describes all that there is.'
const app = new Hono()
everyReply(app, { requestId: () => 'req_1', report: () => undefined, page: async () => null })
app.get('/', (c) => c.text(''))
app.post('/info', (c) => c.text(''))
app.post('/k/:key/info', (c) => c.text(''))
app.get('/platform/key/', (c) => c.text(''))
app.get('/feed', (c) => c.notFound())
app.post('/admin/keys', (c) => c.text(''))
app.get('/admin/keys', (c) => c.text(''))

async function told(method: string, path: string) {
  const answer = await app.request(path, { method })
  const body = (await answer.json()) as { error_message?: string; msg?: string }
  return [answer.status, body.error_message ?? body.msg]
}

describe('a request that nothing is behind', () => {
  it('is refused in the form that info clients read, wherever a key in the path takes them', async () => {
    for (const path of ['/k/x/exchange', '/k/x/info/', '/k/x', '/k/x/', '/infos'])
      expect(await (await app.request(path, { method: 'POST' })).json(), path).toMatchObject(
        path === '/infos' ? { error_code: '404' } : { code: 'not_found', msg: expect.any(String) },
      )
  })

  it.each([
    ['POST', '/infos', 'This endpoint does not exist; did you mean POST /info?'],
    ['POST', '/api/v1/info', 'This endpoint does not exist; did you mean POST /info?'],
    ['GET', '/infos', 'This endpoint does not exist; did you mean POST /info?'],
    ['GET', '/platform/keys', 'This endpoint does not exist; did you mean GET /platform/key/?'],
    ['POST', '/admin/key', 'This endpoint does not exist; did you mean POST /admin/keys?'],
    ['PUT', '/admin/key', 'This endpoint does not exist; did you mean GET /admin/keys?'],
    ['GET', '/nothing', 'This endpoint does not exist.'],
    ['GET', '/feed', 'This endpoint does not exist.'],
    ['GET', '/feeds', 'This endpoint does not exist.'],
    ['GET', `/k/cqt_${'x'.repeat(26)}/infos`, 'This endpoint does not exist.'],
  ])('%s %s', async (method, path, said) => {
    expect(await told(method, path)).toEqual([404, `${said} ${DOCS}`])
  })

  it('is told how to ask where it comes with another method', async () => {
    expect(await told('PUT', '/platform/key/')).toEqual([405, `This endpoint takes GET, HEAD, OPTIONS. ${DOCS}`])
    for (const [method, path] of [
      ['GET', '/info'],
      ['PUT', '/info'],
      ['POST', '/'],
    ] as const) {
      const [status, message] = await told(method, path)
      expect([status, message]).toEqual([405, expect.stringMatching(/^POST \/info takes questions such as \{"type":/)])
    }
  })
})
