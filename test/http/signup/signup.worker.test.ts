// Sign-up by e-mail over its routes, on real storage.

import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, it } from 'vitest'
import { AddressLimiter, SIGN_UPS, WRONG_TOKENS } from '../../../src/accounts/address-limiter.ts'
import { SIGN_UP_LINKS, SignUpLinks } from '../../../src/http/platform/endpoints/business.ts'
import type { AccountOpening } from '../../../src/http/platform/platform-api.ts'
import { signUpRoutes } from '../../../src/http/signup/signup.route.ts'
import { SignUpSettings } from '../../../src/http/signup/signup-bounds.ts'
import { SignUp } from '../../../src/http/signup/signup-service.client.ts'
import type { Challenge } from '../../../src/http/signup/turnstile.client.ts'
import { ask as admin, KEY_SECRET, meterOf, platformOf } from '../platform/operator.worker.ts'

const { ACCOUNTS: db } = env as unknown as Cloudflare.Env
const HOST = 'https://weir.example'

interface Sent {
  readonly to: string
  readonly link: string
}

/** A gateway with a test mailbox and clock. */
function gateway(over: object = {}, check: Challenge | null = null) {
  const world = { nowMs: 1_790_000_000_000, mails: [] as Sent[], from: null as string | null, isMailDown: false }
  const { accounts, keys, rows } = platformOf()
  const asked = new AddressLimiter(SIGN_UPS)
  const wrong = new AddressLimiter(WRONG_TOKENS)
  const told: unknown[] = []
  const openings: (AccountOpening | undefined)[] = []
  const alerts: string[] = []
  const waiting: Promise<unknown>[] = []
  const mailer = async (to: string, link: string) => {
    if (world.isMailDown) throw new Error('the mailer answered 500')
    world.mails.push({ to, link })
  }
  const now = () => world.nowMs
  const addressOf = ({ headers }: Request) => headers.get('x-from') ?? world.from
  const app = signUpRoutes({
    db,
    delivery: 'mail',
    publicUrl: HOST,
    requestId: () => 'req_1',
    now,
    report: (error) => void told.push(error),
    signUp: new SignUp({
      db,
      keySecret: KEY_SECRET,
      mailer,
      accounts: {
        ...accounts,
        ensure: (id, choice, opening) => {
          openings.push(opening)
          return accounts.ensure(id, choice, opening)
        },
      },
      keys,
      nowMs: now,
      visitorsRegion: () => 'apac-ne',
      alert: (text) => void alerts.push(text),
      settings: SignUpSettings.parse({ refusedDomains: ['throw.example'], ...over }),
    }),
    turnstile: check && { siteKey: 'the-site-key', check },
    countRequest: (request) => asked.take(addressOf(request), now()),
    wrongToken: (request) => wrong.take(addressOf(request), now()),
    addressOf,
  })
  const context = {
    waitUntil: (work: Promise<unknown>) => void waiting.push(work),
    passThroughOnException: () => {},
    props: {},
  }
  const post = async (path: string, body: unknown, headers: Record<string, string> = { origin: HOST }) => {
    const request = new Request(`${HOST}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    const answer = await app.fetch(request, {}, context as never)
    const text = await answer.text()
    return { status: answer.status, text, json: JSON.parse(text), cookie: answer.headers.get('set-cookie') }
  }
  /** Requests a link and waits for background work. */
  const ask = async (email: unknown) => {
    const answer = await post('/signup', { email })
    await Promise.all(waiting)
    return answer
  }
  /** Token of the last link. */
  const token = () => world.mails.at(-1)!.link.split('#join=')[1]!
  const confirm = (sent = token()) => post('/signup/confirm', { token: sent })
  const links = async () => (await rows(SignUpLinks, SIGN_UP_LINKS, world.nowMs - 86_400_000))[0]!
  return { world, told, alerts, openings, app, post, ask, token, confirm, context, links }
}

beforeEach(async () => {
  await db.batch([db.prepare('DELETE FROM signup_links'), db.prepare('DELETE FROM signups')])
})

describe('signing up', () => {
  it('creates a trial account and a managing session, and shows the key once', async () => {
    const { world, ask, confirm, openings } = gateway()
    expect(await ask('New@example.com')).toMatchObject({ status: 202 })
    expect(world.mails).toEqual([
      { to: 'new@example.com', link: expect.stringMatching(/^https:\/\/weir\.example\/console#join=[1-9A-Za-z]{43}$/) },
    ])
    const joined = await confirm()
    expect(joined).toMatchObject({ status: 200, json: { account: expect.stringMatching(/^a-\w{12}$/) } })
    expect(joined.json.key).toMatch(/^cqt_/)
    expect(openings).toEqual([{ region: 'apac-ne' }])
    expect(joined.cookie).toMatch(/^__Host-weir=[0-9a-f]{64}; .*HttpOnly; SameSite=Strict$/)
    const shown = await admin('GET', `/accounts/${joined.json.account}`)
    expect(shown.json).toMatchObject({ plan: 'trial', balance: '25000' })
    expect(shown.json.keys.map(({ kind, label }: Record<string, string>) => [kind, label]).sort()).toEqual([
      ['api', 'trial'],
      ['service', 'console sign-up'],
    ])
  })

  it('returns to the same account without another key or more credits', async () => {
    const { ask, confirm } = gateway()
    await ask('back@example.com')
    const first = await confirm()
    await ask('BACK@example.com')
    const second = await confirm()
    expect(second).toMatchObject({ status: 200, json: { account: first.json.account, key: null } })
    const keys = await admin('GET', `/keys?account=${first.json.account}`)
    expect(keys.json.keys).toHaveLength(2)
    expect((await meterOf(first.json.account).balance()).granted).toBe(25_000_000_000)
  })

  it('completes an account after an interrupted creation', async () => {
    const { ask, confirm } = gateway()
    await ask('half@example.com')
    await confirm()
    await db.batch([
      db.prepare("INSERT INTO accounts (id, plan, created) VALUES ('a-half', 'trial', 1)"),
      db.prepare("UPDATE signups SET account = 'a-half'"),
    ])
    await ask('half@example.com')
    expect((await confirm()).json).toMatchObject({ account: 'a-half', key: expect.stringMatching(/^cqt_/) })
    expect((await meterOf('a-half').balance()).granted).toBe(25_000_000_000)
  })

  it('creates a new service key if the previous one was revoked, even after a thousand keys', async () => {
    const { world, ask, confirm } = gateway()
    await ask('many@example.com')
    const { account } = (await confirm()).json
    const listed = await admin('GET', `/keys?account=${account}`)
    const service = listed.json.keys.find(({ kind }: { kind: string }) => kind === 'service')
    await admin('DELETE', `/keys/${service.hash}`)
    const bots = `INSERT INTO keys (hash, prefix, label, account, kind, products, created)
      SELECT 'many' || value, 'cqt_manymany', 'bot', ?, 'api', '["info"]', 9990000000000 FROM json_each(?)`
    await db
      .prepare(bots)
      .bind(account, JSON.stringify(Array.from({ length: 1_001 }, (_, i) => i)))
      .run()
    world.nowMs++
    await ask('many@example.com')
    expect((await confirm()).status).toBe(200)
    const stands = `SELECT k.revoked, k.label FROM sessions s JOIN keys k ON k.hash = s.token_hash
      WHERE k.account = ? ORDER BY s.created DESC LIMIT 1`
    expect(await db.prepare(stands).bind(account).first()).toEqual({ revoked: null, label: 'console sign-up' })
  })

  it('opens a link once, even in two tabs', async () => {
    const { ask, confirm, token } = gateway()
    await ask('tabs@example.com')
    const tabs = await Promise.all([confirm(), confirm()])
    expect(tabs.map(({ status }) => status).sort()).toEqual([200, 404])
    const late = await confirm(token())
    expect(late).toMatchObject({ status: 404, cookie: null })
  })

  it('creates one account and key for two concurrent links', async () => {
    const { world, ask, confirm } = gateway()
    await ask('twice@example.com')
    await ask('twice@example.com')
    const both = await Promise.all(world.mails.map(({ link }) => confirm(link.split('#join=')[1]!)))
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(both.filter(({ json }) => json.key !== null)).toHaveLength(1)
    const [account, ...others] = new Set(both.map(({ json }) => json.account as string))
    expect(others).toEqual([])
    expect((await admin('GET', `/keys?account=${account}`)).json.keys).toHaveLength(2)
    expect((await meterOf(String(account)).balance()).granted).toBe(25_000_000_000)
  })

  it('is not triggered by fetching the page of a link', async () => {
    const { ask, app, context, confirm, world } = gateway()
    await ask('scanned@example.com')
    const { link } = world.mails[0]!
    await app.fetch(new Request(link), {}, context as never)
    await app.fetch(new Request(link, { method: 'HEAD' }), {}, context as never)
    expect((await confirm()).status).toBe(200)
  })

  it('expires after half an hour, and guesses are rate limited', async () => {
    const { world, ask, confirm } = gateway()
    await ask('late@example.com')
    world.nowMs += 30 * 60_000 + 1
    expect((await confirm()).status).toBe(404)
    expect((await confirm('z'.repeat(43))).status).toBe(404)
    expect((await confirm('../../x')).status).toBe(404)
    const statuses = []
    for (let i = 0; i < 30; i++) statuses.push((await confirm(`${'z'.repeat(41)}${i + 10}`)).status)
    expect(statuses.at(-1)).toBe(429)
    await ask('late@example.com')
    expect((await confirm()).status).toBe(200)
  })
})

describe('variants of an address', () => {
  it('share one trial and open only their own account', async () => {
    const { ask, confirm } = gateway()
    await ask('first@gmail.com')
    expect((await confirm()).status).toBe(200)
    for (const variant of ['first+1@gmail.com', 'f.irst@gmail.com', 'first@googlemail.com']) {
      await ask(variant)
      const refused = await confirm()
      expect(refused).toMatchObject({ status: 403, cookie: null })
    }
  })
})

describe('the requester', () => {
  it('gets the same response for known, unknown and repeated addresses', async () => {
    const { world, ask, confirm } = gateway()
    const unknown = await ask('known@example.com')
    await confirm()
    const answers = []
    for (let i = 0; i < 8; i++) answers.push(await ask('known@example.com'))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(new Set([`202 ${unknown.text}`]))
    // The mailbox is not flooded by variants.
    expect(world.mails).toHaveLength(5)
    await ask('known+more@example.com')
    expect(world.mails).toHaveLength(5)
  })

  it('gets the response before the address is looked up', async () => {
    const { world, post, context } = gateway()
    const behind: Promise<unknown>[] = []
    context.waitUntil = (work) => void behind.push(work)
    expect((await post('/signup', { email: 'slow@example.com' })).status).toBe(202)
    expect(behind).toHaveLength(1)
    await behind[0]
    expect(world.mails).toHaveLength(1)
  })

  it('is limited by network, without blocking others or owners', async () => {
    const { world, alerts, ask, confirm, links } = gateway({ perDay: 40 })
    world.from = '192.0.2.9'
    await ask('owner@example.org')
    await confirm()
    // One caller with a /48, a /24 and many domains: ten links in 2,000 tries.
    for (let i = 0; i < 1_000; i++) {
      world.nowMs += 60_000
      world.from = i % 2 ? `198.51.100.${i % 250}` : `2001:db8:1:${i.toString(16)}::1`
      if (i < 40 || i % 100 === 0) await ask(`n${i}@d${i}.example`)
    }
    expect(world.mails).toHaveLength(11)
    // A caller with many networks continues until the last quarter, which is reserved for new networks.
    for (let i = 0; i < 60; i++) {
      world.nowMs += 60_000
      world.from = `198.19.${i % 5}.${i}`
      await ask(`k${i}@k${i}.example`)
    }
    expect(world.mails).toHaveLength(30)
    expect(alerts).toEqual([expect.stringContaining('30 of 40 links')])
    world.from = '203.0.113.1'
    expect((await ask('new@fresh.example')).status).toBe(202)
    for (let i = 0; i < 12; i++) {
      world.from = `203.1.${i}.1`
      await ask(`z${i}@z${i}.example`)
    }
    world.from = '203.2.1.1'
    const full = await ask('late@late.example')
    expect([full.status, world.mails.length]).toEqual([503, 40])
    expect(alerts.slice(1)).toEqual([expect.stringContaining('all 40 links')])
    // An existing account still gets its link, with the same response as everybody.
    const before = await links()
    expect(before).toEqual({ links: 40, networks: 18, most_of_network: 5, domains: 40, most_of_domain: 1 })
    const back = await ask('owner@example.org')
    expect([back.status, back.text]).toEqual([503, full.text])
    expect(world.mails.at(-1)!.to).toBe('owner@example.org')
    // Counters of others are unchanged, because they would reveal the account.
    expect(await links()).toEqual(before)
    expect((await confirm()).status).toBe(200)
    world.nowMs += 86_400_000
    expect((await ask('next@example.com')).status).toBe(202)
  })

  it('cannot block a domain for new networks, and cannot block a public provider', async () => {
    const { world, ask } = gateway({ perDay: 80 })
    const from = (network: number, i: number) => {
      world.nowMs += 60_000
      world.from = `198.18.${network}.${i}`
    }
    const statuses = []
    // A quarter of the daily links from three networks, eight each.
    for (let i = 0; i < 24; i++) {
      from(i % 3, i)
      statuses.push((await ask(`m${i}@one.example`)).status)
    }
    expect(statuses).toEqual([...Array(20).fill(202), ...Array(4).fill(503)])
    from(0, 30)
    expect((await ask('one@one.example')).json.error_message).toContain('domain')
    expect((await ask('one@two.example')).status).toBe(202)
    from(9, 1)
    expect((await ask('honest@one.example')).status).toBe(202)
    for (let i = 0; i < 30; i++) {
      from(20 + (i % 5), i)
      expect((await ask(`g${i}@gmail.com`)).status).toBe(202)
    }
  })

  it('cannot exceed limits with concurrent requests', async () => {
    const { world, post, context, alerts } = gateway({ perDay: 20 })
    const behind: Promise<unknown>[] = []
    context.waitUntil = (work) => void behind.push(work)
    const atOnce = async (from: (i: number) => string) => {
      const answers = Array.from({ length: 40 }, (_, i) => {
        const headers = { origin: HOST, 'x-from': from(i) }
        return post('/signup', { email: `a${from(i)}@d${i}.example` }, headers)
      })
      const statuses = (await Promise.all(answers)).map(({ status }) => status)
      await Promise.all(behind)
      return statuses.filter((status) => status === 202).length
    }
    expect([await atOnce((i) => `192.0.2.${i}`), world.mails.length]).toEqual([5, 5])
    expect([await atOnce((i) => `198.18.${i}.1`), world.mails.length]).toEqual([15, 20])
    expect(alerts).toHaveLength(2)
  })

  it('is slowed down at once during a flood', async () => {
    const { world, ask } = gateway()
    world.from = '203.0.113.9'
    const statuses = []
    for (let i = 0; i < 12; i++) statuses.push((await ask(`flood${i}@example.com`)).status)
    expect(statuses.slice(-2)).toEqual([429, 429])
    world.from = '203.0.113.10'
    expect((await ask('other@example.com')).status).toBe(202)
  })

  it('gets the invalid field or blocked domain', async () => {
    const { ask, post, world } = gateway()
    for (const email of ['you', 'you@example.com\r\nBcc: x@example.com', 7, 'x'.repeat(400)])
      expect((await ask(email)).json.error_message).toMatch(/^email: /)
    expect((await ask('a@b.throw.example')).json.error_message).toMatch(/^email: /)
    expect((await post('/signup', { mail: 'a@b.example' })).json.error_message).toContain('email')
    expect((await post('/signup/confirm', {})).json.error_message).toMatch(/^token: /)
    expect(world.mails).toEqual([])
  })

  it('must solve the challenge first', async () => {
    const seen: unknown[] = []
    const { world, post, app, context, links } = gateway({}, async (token, host, caller) => {
      seen.push([token, host, caller])
      return token === 'solved'
        ? null
        : { kind: 'bad_field', issues: [{ path: 'challenge', message: 'was not solved' }] }
    })
    world.from = '192.0.2.1'
    const shown = await app.fetch(new Request(`${HOST}/signup`), {}, context as never)
    expect(await shown.json()).toEqual({ by: 'mail', turnstile: 'the-site-key' })
    expect((await post('/signup', { email: 'a@b.example' })).status).toBe(400)
    expect(await links()).toMatchObject({ links: 0 })
    expect((await post('/signup', { email: 'a@b.example', challenge: 'solved' })).status).toBe(202)
    expect(seen).toEqual([undefined, 'solved'].map((token) => [token, 'weir.example', '192.0.2.1']))
  })

  it('must be a page of this host', async () => {
    const { post } = gateway()
    for (const headers of [{}, { origin: 'https://evil.example' }, { origin: HOST, 'sec-fetch-site': 'cross-site' }])
      for (const path of ['/signup', '/signup/confirm'])
        expect((await post(path, { email: 'a@b.example', token: 'x' }, headers as Record<string, string>)).status).toBe(
          403,
        )
  })
})

describe('failures', () => {
  it('of the mail API are reported without the address', async () => {
    const { world, told, ask, confirm } = gateway()
    world.isMailDown = true
    expect((await ask('down@example.com')).status).toBe(202)
    expect(String(told)).toContain('the mailer answered 500')
    expect(String(told)).not.toContain('down@')
    world.isMailDown = false
    await ask('down@example.com')
    expect((await confirm()).status).toBe(200)
  })

  it('because of a missing trial plan keep the link valid, and existing accounts still work', async () => {
    const { ask, confirm } = gateway()
    await ask('before@example.com')
    await confirm()
    const { results } = await db.prepare("SELECT * FROM plans WHERE name = 'trial'").all()
    await db.prepare("UPDATE plans SET name = 'gone' WHERE name = 'trial'").run()
    try {
      await ask('before@example.com')
      expect((await confirm()).status).toBe(200)
      await ask('after@example.com')
      const refused = await confirm()
      expect(refused).toMatchObject({ status: 503, cookie: null })
    } finally {
      await db.prepare("UPDATE plans SET name = 'trial' WHERE name = 'gone'").run()
    }
    expect(results).toHaveLength(1)
    expect((await confirm()).status).toBe(200)
  })

  it('stored tables contain no address or token', async () => {
    const { ask, confirm, token } = gateway()
    await ask('private@example.com')
    const sent = token()
    await confirm()
    const rows = await db.batch(['signups', 'signup_links'].map((name) => db.prepare(`SELECT * FROM ${name}`)))
    const text = JSON.stringify(rows.map(({ results }) => results))
    expect(text).not.toContain('private')
    expect(text).not.toContain(sent)
  })
})
