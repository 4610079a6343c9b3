import { describe, expect, it } from 'vitest'
import { AccountStore } from '../../../src/accounts/accounts.store.ts'
import { AddressLimiter, WRONG_TOKENS } from '../../../src/accounts/address-limiter.ts'
import { alertLinkRoutes } from '../../../src/http/mail/alert-links.route.ts'
import { AlertMails } from '../../../src/http/mail/alert-mails.client.ts'
import type { Mail } from '../../../src/http/mail/mail.ts'
import { ask, bindings, KEY_SECRET, keyed, meterOf, newKey, platformOf } from './operator.worker.ts'

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
    [{ url: 'http://bad' }, 'url: must be https'],
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
    const plain = await ask('PUT', '/accounts/local/webhook', { url: 'http://bad' }, { isPrivateAllowed: true })
    expect(plain).toMatchObject({ status: 400, json: { error_message: expect.stringContaining('url: must be https') } })
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

describe('the alerts of an account', () => {
  const EMAIL = 'ops@example.com'
  const condition = { type: 'errors', statuses: '5xx', percent: 5, calls: 100, minutes: 15 }
  const rule = { name: 'errors', condition }

  /** An account with a service key, and a gateway that keeps the mails it would send. */
  async function gateway(name: string, publicUrl = 'https://gateway.example') {
    const account = `alerts-${name}`
    const owner = await newKey({ plan: 'enterprise', kind: 'service', label: account })
    const mails: Mail[] = []
    const alertMails = new AlertMails(async (mail) => void mails.push(mail), KEY_SECRET, publicUrl)
    const platform = { ...platformOf(), alertMails }
    const call = keyed({ platform })
    const gate = new AddressLimiter(WRONG_TOKENS)
    const asked: string[] = []
    const links = alertLinkRoutes({
      mails: alertMails,
      meterOf: (of) => {
        asked.push(of)
        return meterOf(of)
      },
      missingFailure: platform.accounts.missingFailure,
      page: async (_, __, { title, button }, status) => new Response(`${title} / ${button}`, { status }),
      wrongToken: () => gate.take(null, 0),
    })
    const follow = async (url: string, method: string) => links.request(url, { method })
    return {
      owner,
      mails,
      asked,
      follow,
      ask: (method: string, path: string, body?: unknown, key = owner.key) =>
        call(method, `/platform/alerts/${path}`, key, body),
    }
  }

  it('go to an address only after it was confirmed with the link, and stop with one click', async () => {
    const { owner, mails, asked, follow, ask } = await gateway('confirmed')
    const added = await ask('POST', 'addresses/', { email: EMAIL.toUpperCase() })
    expect(added).toMatchObject({ status: 201, data: { email: EMAIL, state: 'pending' } })
    const { id } = added.data
    expect(mails).toMatchObject([{ to: EMAIL }])
    expect((await ask('POST', 'addresses/', { email: 'o.ps+1@example.com' })).status).toBe(201)
    expect((await ask('POST', 'addresses/', { email: 'ops+tag@example.com' })).status).toBe(409)
    const stored = await meterOf(owner.account).alerts()
    expect(JSON.stringify(stored)).not.toContain('example.com')
    const { link } = mails[0]!
    // Mail servers open links.
    expect(await (await follow(link, 'GET')).text()).toBe('Confirm alerts / Confirm')
    const states = async () => (await ask('GET', '')).data.addresses.map(({ state }: { state: string }) => state)
    expect(await states()).toEqual(['pending', 'pending'])
    // The links of another address, of another account and of a guess do not reach the meter.
    const foreign = link.replace(id, stored.addresses[1]!.id)
    for (const wrong of [link.replace(/token=.{5}/, 'token=zzzzz'), link.replace(owner.account, 'nobody'), foreign])
      expect((await follow(wrong, 'POST')).status).toBe(404)
    expect(asked).toEqual([])
    expect((await follow(link, 'POST')).status).toBe(200)
    expect((await follow(link, 'POST')).status).toBe(404)
    expect(await states()).toEqual(['confirmed', 'pending'])
    const unsubscribe = /<(.*)>/.exec(mails[0]!.headers!['List-Unsubscribe']!)![1]!
    const other = /<(.*)>/.exec(mails[1]!.headers!['List-Unsubscribe']!)![1]!
    const wrong = unsubscribe.replace(/token=.*/, '') + /token=.*/.exec(other)![0]
    expect((await follow(wrong, 'POST')).status).toBe(404)
    expect((await follow(unsubscribe.replace(owner.account, 'nobody'), 'POST')).status).toBe(404)
    expect((await follow(unsubscribe, 'POST')).status).toBe(200)
    expect(await states()).toEqual(['unsubscribed', 'pending'])
    const again = await ask('POST', `addresses/${id}/confirmation`)
    expect([again.status, again.said]).toEqual([409, expect.stringContaining('has unsubscribed')])
    expect((await ask('DELETE', `addresses/${id}`)).status).toBe(200)
    expect((await ask('DELETE', `addresses/${id}`)).status).toBe(404)
    const more = await ask('POST', 'addresses/', { email: EMAIL })
    expect([more.status, more.said]).toEqual([409, expect.stringContaining('has unsubscribed')])
    const [{ id: pending }] = (await ask('GET', '')).data.addresses
    const soon = await ask('POST', `addresses/${pending}/confirmation`)
    expect([soon.status, soon.said]).toEqual([429, expect.stringContaining('one confirmation e-mail per hour')])
    expect(mails).toHaveLength(2)
  })

  it('have rules that are created, changed, tested and deleted', async () => {
    const { owner, mails, follow, ask } = await gateway('rules')
    const { id: address } = (await ask('POST', 'addresses/', { email: EMAIL })).data
    await follow(mails[0]!.link, 'POST')
    const made = await ask('POST', 'rules/', { ...rule, addresses: [address] })
    expect(made).toMatchObject({
      status: 201,
      data: { enabled: true, webhook: false, cooldown_minutes: 1_440, firing: false, fired: null },
    })
    const { id } = made.data
    const own = { ...condition, key: owner.hash }
    const set = await ask('PUT', `rules/${id}`, { ...rule, enabled: false, addresses: [address], condition: own })
    expect(set).toMatchObject({ status: 200, data: { id, enabled: false, condition: own } })
    const tested = await ask('POST', `rules/${id}/test`)
    expect(tested).toMatchObject({ status: 200, data: { type: 'alert.test', rule: id, deliveries: [{ address }] } })
    expect((await ask('POST', `rules/${id}/test`)).status).toBe(429)
    expect((await ask('GET', '')).data).toMatchObject({ rules: [{ id }], history: [{ rule: id }], sends_email: true })
    expect((await ask('DELETE', `rules/${id}`)).status).toBe(200)
    for (const [method, path] of [
      ['DELETE', ''],
      ['PUT', ''],
      ['POST', '/test'],
    ] as const)
      expect(
        (await ask(method, `rules/${id}${path}`, method === 'PUT' ? { ...rule, addresses: [address] } : undefined))
          .status,
      ).toBe(404)
  })

  it('are refused with the field that is wrong', async () => {
    const { ask } = await gateway('refused')
    const other = await newKey({ plan: 'trial', kind: 'api' })
    const addresses = ['adr_5a1f7a6e-7c0e-4d3b-9a3e-111111111111']
    for (const [body, words] of [
      [rule, 'addresses: must name an address, unless "webhook" is true'],
      [{ ...rule, webhook: true }, 'webhook: needs a webhook'],
      [{ ...rule, addresses }, 'addresses: must be ids of addresses of this account'],
      [{ ...rule, addresses: ['ops@example.com'] }, 'addresses.0: must be the id of an address'],
      [{ ...rule, addresses: [...addresses, ...addresses] }, 'addresses: must not repeat'],
      [{ ...rule, addresses, name: '\u202e' }, 'name: must be one line'],
      [{ ...rule, addresses, cooldown_minutes: 1 }, 'cooldown_minutes: must be at least 5'],
      [{ ...rule, addresses, condition: { ...condition, minutes: 7 } }, 'condition.minutes: must be 5, 15 or 60'],
      [
        { ...rule, addresses, condition: { ...condition, key: other.hash } },
        'condition.key: must be the hash of a key',
      ],
      [{ ...rule, addresses, condition: { type: 'x' } }, 'must have a "type"'],
    ] as const) {
      const answer = await ask('POST', 'rules/', body)
      expect([answer.status, answer.said]).toEqual([400, expect.stringContaining(words)])
    }
    const wrong = await ask('POST', 'addresses/', { email: 'you@example.com\r\nBcc: x@example.com' })
    expect([wrong.status, wrong.said]).toEqual([400, expect.stringContaining('email: ')])
    expect((await ask('GET', '', undefined, other.key)).status).toBe(403)
  })

  it('have no addresses on a gateway that sends no e-mails', async () => {
    const owner = await newKey({ plan: 'trial', kind: 'service' })
    const alertMails = new AlertMails(null, KEY_SECRET, '')
    const call = keyed({ platform: { ...platformOf(), alertMails } })
    const answer = await call('POST', '/platform/alerts/addresses/', owner.key, { email: EMAIL })
    expect([answer.status, answer.said]).toEqual([503, expect.stringContaining('Use the webhook')])
  })
})
