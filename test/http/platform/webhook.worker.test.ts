import { describe, expect, it } from 'vitest'
import { AccountStore } from '../../../src/accounts/accounts.store.ts'
import { ask, bindings } from './operator.worker.ts'

describe('the webhook of an account', () => {
  const url = 'https://example.com/hook'

  it('is set, shown without its secret, and removed', async () => {
    await new AccountStore(bindings.ACCOUNTS).ensureAccount('hooked', 'trial', null, 1)
    const set = await ask('PUT', '/accounts/hooked/webhook', { url })
    expect(set).toMatchObject({ status: 200, json: { url, thresholds: ['20%', '5%', '0'], events: [] } })
    expect(set.json.secret).toMatch(/^whsec_/)
    const shown = await ask('GET', '/accounts/hooked/webhook')
    expect(shown).toMatchObject({ status: 200, json: { account: 'hooked', url } })
    expect(JSON.stringify(shown)).not.toContain('whsec_')
    expect((await ask('PUT', '/accounts/hooked/webhook', { url, thresholds: ['10'] })).json.secret).toBe(null)
    expect((await ask('DELETE', '/accounts/hooked/webhook')).status).toBe(200)
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/test'],
    ] as const) {
      expect((await ask(method, `/accounts/hooked/webhook${path}`)).status).toBe(404)
    }
  })

  it.each([
    [{}, 'url'],
    [{ url: 5 }, 'url'],
    [{ url: 'http://example.com/' }, 'url: must be https'],
    [{ url: 'https://me:secret@example.com/' }, 'url: must not contain a user name or password'],
    [{ url, thresholds: ['20'.repeat(20)] }, 'thresholds.0'],
    [{ url, thresholds: ['120%'] }, 'thresholds.0'],
    [{ url, thresholds: [] }, 'thresholds'],
    [{ url, thresholds: ['5', '5'] }, 'thresholds'],
    [{ url, secret: 'mine' }, 'secret'],
    [[], 'body'],
  ])('rejects %j with %s and sets nothing', async (body, words) => {
    await new AccountStore(bindings.ACCOUNTS).ensureAccount('refused', 'trial', null, 1)
    const { status, json } = await ask('PUT', '/accounts/refused/webhook', body)
    expect(status).toBe(400)
    expect(json.error_message).toContain(words)
    expect(JSON.stringify(json)).not.toContain('me:secret')
    expect((await ask('GET', '/accounts/refused/webhook')).status).toBe(404)
  })

  it('may use plain HTTP if the operator allows it, and needs an account', async () => {
    await new AccountStore(bindings.ACCOUNTS).ensureAccount('local', 'trial', null, 1)
    const local = { url: 'http://127.0.0.1:3000/hook' }
    expect((await ask('PUT', '/accounts/local/webhook', local, { isPrivateAllowed: true })).status).toBe(200)
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['PUT', ''],
    ] as const) {
      const answer = await ask(method, `/accounts/nobody/webhook${path}`, method === 'PUT' ? { url } : undefined)
      expect(answer).toMatchObject({ status: 404, json: { error_message: expect.stringContaining('account') } })
    }
  })
})
