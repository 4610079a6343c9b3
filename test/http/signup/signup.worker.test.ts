// Sign-up by e-mail over its routes, on real storage.

import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { AddressLimiter, SIGN_UPS, WRONG_TOKENS } from '../../../src/accounts/address-limiter.ts'
import { SIGN_UP_LINKS, SignUpLinks } from '../../../src/http/platform/endpoints/business.ts'
import type { AccountOpening } from '../../../src/http/platform/platform-api.ts'
import { type LinkMail, linkMailerOf } from '../../../src/http/signup/link-mails.client.ts'
import { MemberSignIn } from '../../../src/http/signup/member-sign-in.client.ts'
import { signUpRoutes } from '../../../src/http/signup/signup.route.ts'
import { SignUpSettings } from '../../../src/http/signup/signup-bounds.ts'
import { SignUp } from '../../../src/http/signup/signup-service.client.ts'
import type { Challenge } from '../../../src/http/signup/turnstile.client.ts'
import { ask as admin, KEY_SECRET, keyed, memberService, meterOf, platformOf } from '../platform/operator.worker.ts'

const { ACCOUNTS: db } = env as unknown as Cloudflare.Env
const HOST = 'https://weir.example'

/** A gateway with a test mailbox and clock. */
function gateway(over: object = {}, check: Challenge | null = null) {
  const world = { nowMs: 1_790_000_000_000, mails: [] as LinkMail[], from: null as string | null, isMailDown: false }
  const { accounts, keys, rows } = platformOf()
  const asked = new AddressLimiter(SIGN_UPS)
  const wrong = new AddressLimiter(WRONG_TOKENS)
  const told: unknown[] = []
  const openings: (AccountOpening | undefined)[] = []
  const alerts: string[] = []
  const waiting: Promise<unknown>[] = []
  const mailer = async (mail: LinkMail) => {
    if (world.isMailDown) throw new Error('the mailer answered 500')
    world.mails.push(mail)
  }
  const now = () => world.nowMs
  const members = memberService({ mailer, nowMs: now, publicUrl: HOST, report: (error) => void told.push(error) })
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
      members,
      signIn: new MemberSignIn({ keys, members }),
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
  return { world, members, told, alerts, openings, app, post, ask, token, confirm, context, links }
}

beforeEach(async () => {
  const tables = ['signup_links', 'signups', 'members', 'sessions', 'team_events']
  await db.batch(tables.map((table) => db.prepare(`DELETE FROM ${table}`)))
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
      db.prepare("UPDATE signups SET account = 'a-half', member = NULL"),
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

  it('refuses a link of an earlier version, which has no address, before it creates anything', async () => {
    const { ask, confirm, openings } = gateway()
    await ask('early@example.com')
    await db.prepare("UPDATE signup_links SET sealed = ''").run()
    expect(await confirm()).toMatchObject({ status: 404, json: { error_message: expect.stringContaining('expired') } })
    expect([openings, (await db.prepare('SELECT * FROM signups').all()).results]).toEqual([[], []])
    await ask('early@example.com')
    expect((await confirm()).status).toBe(200)
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
    const rows = await db.batch(
      ['signups', 'signup_links', 'members', 'sessions'].map((name) => db.prepare(`SELECT * FROM ${name}`)),
    )
    const text = JSON.stringify(rows.map(({ results }) => results))
    expect(text).not.toContain('private')
    expect(text).not.toContain(sent)
  })
})

const MEMBERS = '/platform/members/'
const SESSIONS = '/platform/sessions/'

/** An account with its first owner, who is signed in. `call`: with the cookie of a session, or a key. */
async function team(email = 'lee@example.com') {
  const own = gateway()
  const { ask, confirm, members, world } = own
  // The authentication of sessions has the real time.
  world.nowMs = Date.now()
  const call = keyed({ platform: { ...platformOf(), members, now: () => world.nowMs } })
  const signIn = async (address: string) => {
    await ask(address)
    return cookieOf(await confirm())
  }
  await ask(email)
  const joined = await confirm()
  const owner = cookieOf(joined)
  const { account } = joined.json
  // Members share the request limit of the account, which a trial reaches at once. The first call leases requests by the plan.
  expect((await admin('PUT', `/accounts/${account}/plan`, { plan: 'enterprise' })).status).toBe(200)
  await meterOf(account).grantCredits('calls', 1_000_000_000)
  const invite = (address: string, role: string, by = owner) => call('POST', MEMBERS, by, { email: address, role })
  /** Invites an address, which accepts. */
  const join = async (address: string, role: string) => {
    const invited = await invite(address, role)
    expect(invited.status).toBe(201)
    return { id: invited.data.id as string, cookie: cookieOf(await confirm()) }
  }
  const list = async () =>
    (await call('GET', MEMBERS, owner)).data.members as { id: string; email: string; role: string }[]
  return { ...own, call, signIn, owner, account, invite, join, list }
}

function cookieOf({ status, cookie }: { status: number; cookie: string | null }): string {
  expect(status).toBe(200)
  return cookie!.split(';')[0]!
}

describe('members', () => {
  it('begin with whoever signed up, once, and join by a link that works once', async () => {
    const { world, call, owner, account, invite, confirm, token, list, signIn } = await team()
    expect(await list()).toMatchObject([{ email: 'lee@example.com', role: 'owner', state: 'joined', is_caller: true }])
    const invited = await invite('Kim@Example.com', 'developer')
    expect(invited.data).toMatchObject({
      email: 'kim@example.com',
      role: 'developer',
      state: 'pending',
      last_seen: null,
    })
    expect(world.mails.at(-1)).toMatchObject({ to: 'kim@example.com', invitation: { account, role: 'developer' } })
    expect(world.mails.at(-1)!.link).toMatch(/^https:\/\/weir\.example\/console#join=invite_\w{43}$/)
    expect(invited.text).not.toContain(token())
    const tabs = await Promise.all([confirm(), confirm()])
    expect(tabs.map(({ status }) => status).sort()).toEqual([200, 404])
    const kim = cookieOf(tabs.find(({ status }) => status === 200)!)
    expect(tabs.find(({ status }) => status === 200)!.json).toMatchObject({ account, key: null })
    expect((await call('GET', '/platform/account/', kim)).data.account).toBe(account)
    expect((await list()).map(({ email }) => email)).toEqual(['lee@example.com', 'kim@example.com'])
    // Both are signed in side by side, and return to the same account.
    expect((await call('GET', MEMBERS, owner)).status).toBe(200)
    const again = await signIn('kim@example.com')
    expect((await call('GET', '/platform/account/', again)).data.account).toBe(account)
    expect((await call('GET', '/platform/keys/', again)).data.keys).toHaveLength(2)
  })

  it('can do what the role allows, and read why not', async () => {
    const { call, owner, join } = await team()
    const { cookie: dev } = await join('dev@example.com', 'developer')
    const { cookie: pay } = await join('pay@example.com', 'billing')
    const statuses = async (method: string, path: string, body?: unknown) => {
      const answers = [owner, dev, pay].map((cookie) => call(method, path, cookie, body))
      return (await Promise.all(answers)).map(({ status }) => status)
    }
    expect(await statuses('GET', '/platform/account/')).toEqual([200, 200, 200])
    expect(await statuses('GET', '/platform/usage/?duration=1')).toEqual([200, 200, 200])
    expect(await statuses('GET', '/platform/keys/')).toEqual([200, 200, 403])
    expect(await statuses('GET', '/platform/billing/')).toEqual([200, 403, 200])
    expect(await statuses('GET', MEMBERS)).toEqual([200, 403, 403])
    expect(await statuses('GET', '/v1/hyperliquid/history/coverage')).toEqual([200, 200, 403])
    expect(await statuses('POST', '/platform/keys/', { kind: 'api', label: 'bot' })).toEqual([201, 201, 403])
    expect(await statuses('POST', '/platform/keys/', { kind: 'service', label: 'ci' })).toEqual([201, 403, 403])
    expect((await call('GET', '/platform/billing/', dev)).said).toBe(
      'This call needs the role "billing" or "owner"; yours is "developer". Ask an owner of the account.',
    )
    // A service key can do more than a developer, so none can be rotated into a new one, changed or revoked.
    const { keys } = (await call('GET', '/platform/keys/', owner)).data
    for (const { prefix, hash } of keys.filter(({ kind }: { kind: string }) => kind === 'service'))
      for (const name of [prefix, hash])
        for (const [method, path, body] of [
          ['POST', '/rotate', {}],
          ['PATCH', '', { label: 'mine' }],
          ['DELETE', '', undefined],
          ['GET', '/reach', undefined],
        ] as const)
          expect((await call(method, `/platform/keys/${name}${path}`, dev, body)).status).toBe(403)
    const bot = keys.find(({ label }: { label: string }) => label === 'bot')
    expect((await call('PATCH', `/platform/keys/${bot.hash}`, dev, { label: 'bot 2' })).status).toBe(200)
  })

  it('get another role, or are removed, with the next request', async () => {
    const { call, owner, join, list, signIn, ask, confirm } = await team()
    const { id, cookie } = await join('kim@example.com', 'developer')
    expect((await call('PATCH', `${MEMBERS}${id}`, owner, { role: 'billing' })).data.role).toBe('billing')
    expect((await call('GET', '/platform/billing/', cookie)).status).toBe(200)
    expect((await call('GET', '/platform/keys/', cookie)).status).toBe(403)
    const second = await signIn('kim@example.com')
    expect((await call('DELETE', `${MEMBERS}${id}`, owner)).data.email).toBe('kim@example.com')
    for (const each of [cookie, second]) expect((await call('GET', '/platform/account/', each)).status).toBe(401)
    expect(await list()).toHaveLength(1)
    expect((await call('DELETE', `${MEMBERS}${id}`, owner)).status).toBe(404)
    // Whoever signed up does not return as an owner either.
    const { id: other, cookie: next } = await join('next@example.com', 'owner')
    const [founder] = await list()
    expect((await call('DELETE', `${MEMBERS}${founder!.id}`, next)).status).toBe(200)
    await ask('lee@example.com')
    expect(await confirm()).toMatchObject({ status: 403, cookie: null })
    expect((await call('GET', MEMBERS, next)).data.members).toMatchObject([{ id: other, role: 'owner' }])
  })

  it('always include an owner, whatever is done in which order and by whom', async () => {
    const { call, owner, account, join } = await team()
    const made = await call('POST', '/platform/keys/', owner, { kind: 'service', label: 'root' })
    const key = made.data.key as string
    await join('b@example.com', 'owner')
    await join('c@example.com', 'developer')
    const owners = async () => {
      const select = `SELECT count(*) AS owners FROM members
        WHERE account = ? AND role = 'owner' AND joined IS NOT NULL AND removed IS NULL`
      return (await db.prepare(select).bind(account).first<{ owners: number }>())!.owners
    }
    const step = fc.record({
      at: fc.nat(5),
      to: fc.constantFrom('owner', 'developer', 'billing', 'removed', 'invited'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
        for (const [round, steps] of rounds.entries()) {
          const { members } = (await call('GET', MEMBERS, key)).data
          const run = steps.map(({ at, to }) => {
            const path = `${MEMBERS}${members[at % members.length].id}`
            if (to === 'removed') return call('DELETE', path, key)
            if (to === 'invited') return call('POST', MEMBERS, key, { email: `n${round}@example.com`, role: 'owner' })
            return call('PATCH', path, key, { role: to })
          })
          for (const { status } of await Promise.all(run)) expect([200, 201, 404, 409, 429]).toContain(status)
          expect(await owners()).toBeGreaterThan(0)
        }
      }),
      { numRuns: 8 },
    )
  })

  it('are limited in number, and an invitation ends after seven days or a newer one', async () => {
    const { world, call, owner, invite, confirm, token, list } = await team()
    const first = await invite('kim@example.com', 'billing')
    const old = token()
    expect((await invite('kim@example.com', 'owner')).status).toBe(409)
    expect((await invite('no address', 'owner')).said).toMatch(/^email: /)
    const again = `${MEMBERS}${first.data.id}/invite`
    expect((await call('POST', again, owner)).status).toBe(429)
    world.nowMs += 3_600_001
    expect((await call('POST', again, owner)).status).toBe(200)
    expect(await confirm(old)).toMatchObject({ status: 404 })
    world.nowMs += 7 * 86_400_000
    expect(await confirm()).toMatchObject({ status: 404, json: { error_message: expect.stringContaining('expired') } })
    expect((await list())[1]).toMatchObject({ email: 'kim@example.com', state: 'expired' })
    const statuses = []
    for (let i = 0; i < 21; i++) statuses.push((await invite(`n${i}@example.com`, 'billing')).status)
    expect(statuses).toEqual([...Array(20).fill(201), 429])
    world.nowMs += 3_600_001
    for (let i = 30; i < 59; i++) {
      world.nowMs += 181_000
      expect((await invite(`n${i}@example.com`, 'billing')).status).toBe(201)
    }
    world.nowMs += 3_600_001
    const full = await invite('full@example.com', 'billing')
    expect([full.status, full.said]).toEqual([409, expect.stringContaining('50 pending')])
    await call('DELETE', `${MEMBERS}${first.data.id}`, owner)
    expect((await invite('full@example.com', 'billing')).status).toBe(201)
  })

  it('include whoever signed up before there were members, also if the address was invited meanwhile', async () => {
    const { owner, call, account, signIn } = await team()
    const key = (await call('POST', '/platform/keys/', owner, { kind: 'service' })).data.key
    await db.batch([db.prepare('DELETE FROM members'), db.prepare('UPDATE signups SET member = NULL')])
    expect((await call('GET', '/platform/account/', owner)).status).toBe(401)
    const invited = await call('POST', MEMBERS, key, { email: 'lee@example.com', role: 'billing' })
    expect(invited.status).toBe(201)
    const again = await signIn('lee@example.com')
    expect((await call('GET', '/platform/account/', again)).data.account).toBe(account)
    expect((await call('GET', MEMBERS, again)).data.members).toMatchObject([
      { id: invited.data.id, role: 'owner', state: 'joined', invitation_ends: null },
    ])
  })

  it('are named in the changes that they made to billing, as keys are', async () => {
    const { call, owner, account, join } = await team()
    const { cookie, id } = await join('kim@example.com', 'billing')
    const key = (await call('POST', '/platform/keys/', owner, { kind: 'service', label: 'root' })).data
    const put = (name: string, by: string) =>
      call('PUT', '/platform/billing/', by, { name, address: ['1 High Street'], country: 'GB' })
    await put('Kim', cookie)
    await put('Key', key.key)
    const { changes } = (await put('Lee', owner)).data
    const names = ['lee@example.com', key.prefix, 'kim@example.com']
    expect(changes.map(({ by }: { by: string }) => by)).toEqual(names)
    const stored = 'SELECT member, root FROM billing_details WHERE account = ? ORDER BY id'
    const { results } = await db.prepare(stored).bind(account).all()
    expect(results).toMatchObject([{ member: id }, { member: null }, { member: expect.stringMatching(/^m-/) }])
    expect(results.every(({ root }) => root !== null)).toBe(true)
    // The address of a removed member is kept for a year, and after that there is the key.
    await db.prepare('DELETE FROM members WHERE id = ?').bind(id).run()
    const shown = (await call('GET', '/platform/billing/', owner)).data.changes
    expect(shown.map(({ by }: { by: string }) => by)).toEqual([...names.slice(0, 2), expect.stringMatching(/^cqs_/)])
  })

  it('do not become owners again by the link of an earlier sign-up', async () => {
    const { owner, call, account, signIn, ask, confirm, token } = await team()
    const { key } = (await call('POST', '/platform/keys/', owner, { kind: 'service' })).data
    const forget = () => db.prepare('UPDATE signups SET member = NULL').run()
    await db.prepare('DELETE FROM members').run()
    await call('POST', MEMBERS, key, { email: 'lee@example.com', role: 'billing' })
    expect((await confirm(token())).status).toBe(200)
    await call('POST', MEMBERS, key, { email: 'next@example.com', role: 'owner' })
    const next = cookieOf(await confirm())
    await forget()
    const lee = await signIn('lee@example.com')
    expect((await call('GET', '/platform/account/', lee)).data.account).toBe(account)
    const { members } = (await call('GET', MEMBERS, next)).data
    expect(members.map(({ email, role }: Record<string, string>) => [email, role])).toEqual([
      ['lee@example.com', 'billing'],
      ['next@example.com', 'owner'],
    ])
    await call('DELETE', `${MEMBERS}${members[0].id}`, next)
    await forget()
    for (let i = 0; i < 2; i++) {
      await ask('lee@example.com')
      expect(await confirm()).toMatchObject({ status: 403, cookie: null })
    }
    // Also after the removed row was dropped.
    await db.prepare('DELETE FROM members WHERE removed IS NOT NULL').run()
    await ask('lee@example.com')
    expect(await confirm()).toMatchObject({ status: 403, cookie: null })
  })

  it('are told nothing about other accounts, and the mailbox of a stranger is not flooded', async () => {
    const first = await team('one@example.com')
    await first.join('shared@example.com', 'billing')
    const known = await first.invite('two@example.com', 'owner')
    const unknown = await first.invite('no@example.com', 'owner')
    const shapeOf = ({ status, data }: { status: number; data: object }) => [status, Object.keys(data)]
    expect(shapeOf(known)).toEqual(shapeOf(unknown))
    for (let i = 0; i < 8; i++) {
      const invited = await first.invite('victim@example.com', 'owner')
      expect(invited.status).toBe(201)
      await first.call('DELETE', `${MEMBERS}${invited.data.id}`, first.owner)
    }
    expect(first.world.mails.filter(({ to }) => to === 'victim@example.com')).toHaveLength(5)
  })

  it('cannot flood a mailbox by variants of its address or by sending an invitation again', async () => {
    const { world, call, owner, invite, join } = await team()
    const gmail = await join('vic.tim@gmail.com', 'billing')
    await call('DELETE', `${MEMBERS}${gmail.id}`, owner)
    const { data } = await invite('victim@googlemail.com', 'billing')
    const sent = () => world.mails.filter(({ to }) => /mail\.com$/.test(to)).length
    for (const mails of [3, 4, 5, 5, 5]) {
      world.nowMs += 3_600_001
      expect((await call('POST', `${MEMBERS}${data.id}/invite`, owner)).status).toBe(200)
      expect(sent()).toBe(mails)
    }
    expect((await invite('vict.im+1@gmail.com', 'billing')).status).toBe(201)
    expect(sent()).toBe(5)
    world.nowMs += 86_400_001
    expect((await call('POST', `${MEMBERS}${data.id}/invite`, owner)).status).toBe(200)
    expect(sent()).toBe(6)
  })

  it('cannot exceed the invitations of an hour by making many other changes', async () => {
    const { world, account, owner, call, invite } = await team()
    for (let i = 0; i < 20; i++) await invite(`n${i}@example.com`, 'billing')
    const changes = `INSERT INTO team_events (account, at, action) SELECT ?, ?, 'end_session' FROM json_each(?)`
    await db
      .prepare(changes)
      .bind(account, world.nowMs, JSON.stringify(Array.from({ length: 1_005 }, () => 0)))
      .run()
    expect((await call('DELETE', `${SESSIONS}?of=account`, owner)).status).toBe(200)
    expect((await invite('more@example.com', 'billing')).status).toBe(429)
    const count = 'SELECT count(*) AS events FROM team_events WHERE account = ?'
    const { events } = (await db.prepare(count).bind(account).first<{ events: number }>())!
    expect(events).toBe(1_020)
  })

  it('of several accounts choose one, and a failed mail is told', async () => {
    const one = await team('one@example.com')
    const two = await team('two@example.com')
    await one.join('both@example.com', 'developer')
    await two.join('both@example.com', 'billing')
    const beginnings = async () => {
      const select =
        'SELECT s.invited FROM sessions s JOIN members m ON m.id = s.member WHERE role = ? ORDER BY s.created'
      return (await db.prepare(select).bind('billing').all<{ invited: number }>()).results
    }
    expect(await beginnings()).toEqual([{ invited: 1 }])
    two.world.nowMs++
    // The last used account is opened first.
    const cookie = await two.signIn('both@example.com')
    expect(await beginnings()).toEqual([{ invited: 1 }, { invited: 0 }])
    expect((await two.call('GET', '/platform/account/', cookie)).data.account).toBe(two.account)
    const { results } = await db
      .prepare('SELECT m.id FROM members m WHERE m.account = ? AND m.role = ?')
      .bind(two.account, 'billing')
      .all<{ id: string }>()
    const signIn = new MemberSignIn({ keys: platformOf().keys, members: two.members })
    const member = results[0]!.id
    expect((await signIn.accountsOf(member)).map(({ account }) => account).sort()).toEqual(
      [one.account, two.account].sort(),
    )
    expect(await signIn.switchTo(member, one.account)).toMatchObject({ ok: true, value: { account: one.account } })
    const third = await team('three@example.com')
    expect(await signIn.switchTo(member, third.account)).toMatchObject({ ok: false, error: { kind: 'not_entitled' } })
    third.world.isMailDown = true
    const failed = await third.invite('late@example.com', 'billing')
    expect([failed.status, failed.said]).toEqual([503, expect.stringContaining('could not be sent')])
    expect(String(third.told)).not.toContain('late@')
    expect(await third.list()).toHaveLength(2)
  })
})

describe('mails', () => {
  it('say what the link does, and go to the mail API with its token', async () => {
    const fetched = vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{}'))
    const settings = {
      SIGNUP: 'http',
      SIGNUP_SETTINGS: SignUpSettings.parse({
        mailer: { url: 'https://mail.example/send', from: 'keys@weir.example' },
      }),
      PUBLIC_URL: HOST,
    } as const
    const mailer = linkMailerOf({ KEY_SECRET, SIGNUP_MAILER_TOKEN: 'token' }, settings)!
    const mail = { to: 'kim@example.com', link: `${HOST}/console#join=invite_1` }
    await mailer(mail)
    await mailer({ ...mail, invitation: { account: 'acme', role: 'billing' } })
    const sent = fetched.mock.calls.map(([url, init]) => ({ url, ...init, body: JSON.parse(String(init?.body)) }))
    fetched.mockRestore()
    for (const { url, headers, body } of sent) {
      expect([url, headers]).toMatchObject(['https://mail.example/send', { authorization: 'Bearer token' }])
      expect(body).toMatchObject({ from: 'keys@weir.example', to: ['kim@example.com'] })
      expect(body.text).toContain(mail.link)
    }
    expect(sent.map(({ body }) => body.subject)).toEqual([
      'Your sign-in link for weir.example',
      'Invitation to the account acme on weir.example',
    ])
    expect(sent[1]!.body.text).toContain('expires in 7 days')
    // Without the token or the secret there is no mail.
    expect([linkMailerOf({ KEY_SECRET }, settings), linkMailerOf({ SIGNUP_MAILER_TOKEN: 'token' }, settings)]).toEqual([
      null,
      null,
    ])
    const { call, owner } = await team()
    expect((await keyed()('POST', MEMBERS, owner, { email: 'kim@example.com', role: 'billing' })).status).toBe(503)
    expect((await call('GET', MEMBERS, owner)).data.delivery).toBe('mail')
  })
})

describe('sessions', () => {
  it('are listed for owners and for oneself, end at once, and are in the activity', async () => {
    const { call, owner, join, signIn } = await team()
    const made = await call('POST', '/platform/keys/', owner, { kind: 'service', label: 'root' })
    const { cookie: kim, id } = await join('kim@example.com', 'developer')
    const lost = await signIn('kim@example.com')
    const sessionsOf = async (cookie: string) => (await call('GET', SESSIONS, cookie)).data
    const all = await sessionsOf(owner)
    expect(all.of).toBe('account')
    expect(all.sessions.map(({ email }: { email: string }) => email).sort()).toEqual([
      'kim@example.com',
      'kim@example.com',
      'lee@example.com',
    ])
    expect(all.sessions.filter(({ is_caller: isCaller }: { is_caller: boolean }) => isCaller)).toHaveLength(1)
    expect((await sessionsOf(made.data.key)).of).toBe('account')
    const own = await sessionsOf(kim)
    expect([own.of, own.sessions.length]).toEqual(['own', 2])
    const ofOwner = all.sessions.find(({ email }: { email: string }) => email === 'lee@example.com')
    expect((await call('DELETE', `${SESSIONS}${ofOwner.id}`, kim)).status).toBe(404)
    expect((await call('DELETE', `${SESSIONS}?of=account`, kim)).data).toEqual({ ended: 1 })
    expect((await call('GET', SESSIONS, lost)).status).toBe(401)
    expect((await call('GET', SESSIONS, kim)).status).toBe(200)
    const { sessions } = await sessionsOf(owner)
    const last = sessions.find(({ member }: { member: string }) => member === id)
    expect((await call('DELETE', `${SESSIONS}${last.id}`, owner)).data).toEqual({ id: last.id })
    expect((await call('GET', SESSIONS, kim)).status).toBe(401)
    expect((await call('DELETE', `${SESSIONS}${last.id}`, owner)).status).toBe(404)
    const { events } = (await call('GET', `${MEMBERS}activity`, owner)).data
    const words = events.map(({ action, by, target, detail }: Record<string, never>) => [action, by, target, detail])
    const [lee, kimParty] = ['lee@example.com', 'kim@example.com'].map((email) => ({ email, key: null }))
    expect(words).toEqual([
      ['end_session', lee, kimParty, null],
      ['end_sessions', kimParty, null, '1'],
      ['join', kimParty, kimParty, null],
      ['invite', lee, kimParty, 'developer'],
    ])
    const byKey = await call('DELETE', `${SESSIONS}?of=account`, made.data.key)
    expect(byKey.data).toEqual({ ended: 1 })
    expect((await call('GET', `${MEMBERS}activity?limit=1`, made.data.key)).data).toMatchObject({
      events: [{ action: 'end_sessions', by: { email: null, key: made.data.prefix } }],
      next: expect.any(Number),
    })
  })
})
