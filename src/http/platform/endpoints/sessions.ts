// Console sessions of an account. Invariant: owners and managing keys see all sessions of the account; everybody else
// sees only those of the same member or key.

import * as z from 'zod'
import type { Identity } from '../../../accounts/identity.ts'
import type { SessionScope } from '../../../accounts/sessions/session.ts'
import { err } from '../../../core/result.ts'
import { managementRefusal, READ_ACCESS_TEXT } from '../account-resource.ts'
import { defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { UnixMs } from '../fields.ts'
import type { Platform } from '../platform-api.ts'
import { actorOf, MemberId, partiesOf } from './members.ts'

const SessionId = z
  .string()
  .regex(/^s-[1-9A-HJ-NP-Za-km-z]{16}$/, 'must be an id from GET /platform/sessions/')
  .describe('Id of the session, `s-…`')

const SessionView = z
  .object({
    id: SessionId,
    member: MemberId.nullable().describe('Id of the member; null: signed in with a key'),
    email: z.string().nullable().describe('E-mail address of the member; null: signed in with a key'),
    key: z.string().nullable().describe('First 12 characters of the key; null: a member'),
    browser: z.string().describe('Browser and system at sign-in; empty: unknown'),
    country: z.string().nullable().describe('Country at sign-in (ISO 3166-1 alpha-2); null: unknown'),
    network: z
      .string()
      .nullable()
      .describe('Network at sign-in, if the country is unknown; null: unknown or not needed'),
    started: UnixMs.describe('Sign-in, Unix milliseconds'),
    last_seen: UnixMs.describe('Last use, up to a minute late, Unix milliseconds'),
    expires: UnixMs.describe('Expiry, Unix milliseconds'),
    is_caller: z.boolean().describe('Whether this session makes the call'),
  })
  .meta({ id: 'Session' })

const SCOPE_TEXT =
  'Owners and unrestricted service keys see all sessions of the account; other members and keys see their own.'

/** The sessions that are the caller's own. */
function ownScope({ account, keyHash, session }: Identity): SessionScope {
  return session?.member ? { account, member: session.member.id } : { account, keyHash }
}

/** The sessions that the caller may see. */
async function visibleScope(identity: Identity, { keys }: Pick<Platform, 'keys'>): Promise<SessionScope> {
  const member = identity.session?.member
  const isManager = member
    ? member.role === 'owner'
    : managementRefusal(await keys.findByHash(identity.keyHash)) === null
  return isManager ? { account: identity.account } : ownScope(identity)
}

const ownSessions = defineEndpoint({
  id: 'ownSessions',
  route: 'GET /platform/sessions/',
  summary: 'List console sessions, last used first',
  description: `${READ_ACCESS_TEXT} ${SCOPE_TEXT}`,
  auth: 'key',
  responses: okResponse(
    'The sessions',
    z.object({
      sessions: z.array(SessionView).describe('Sessions that have not expired, at most 500'),
      of: z.enum(['account', 'own']).describe('Whether these are all sessions of the account, or the caller’s'),
    }),
    {
      sessions: [
        {
          id: 's-9fKxWq2TbNkRzd5m',
          member: 'm-9fKxWq2TbNkRzd5m',
          email: 'kim@example.com',
          key: null,
          browser: 'Firefox on Windows',
          country: 'GB',
          network: null,
          started: 1790000000000,
          last_seen: 1790007200000,
          expires: 1790086400000,
          is_caller: true,
        },
      ],
      of: 'account',
    },
  ),
  handle: async ({ identity }, platform) => {
    const scope = await visibleScope(identity, platform)
    const rows = await platform.sessions.list(scope)
    const members = rows.map(({ member }) => member)
    const partyOf = await partiesOf(
      platform,
      identity.account,
      members,
      rows.map(({ tokenHash }) => tokenHash),
    )
    const sessions = rows.map(({ id, member, tokenHash, browser, place, created, seen, expires }) => ({
      id,
      member,
      ...partyOf(member, tokenHash),
      browser,
      country: /^[A-Z]{2}$/.test(place) ? place : null,
      network: place.includes('/') ? place : null,
      started: created,
      last_seen: seen,
      expires,
      is_caller: identity.session?.id === id,
    }))
    const isAll = scope.member === undefined && scope.keyHash === undefined
    return reply(200, { sessions, of: isAll ? 'account' : 'own' })
  },
})

const ENDS_TEXT = 'An ended session is rejected from its next request on. Stream tokens that it got last up to an hour.'

const endOwnSession = defineEndpoint({
  id: 'endOwnSession',
  route: 'DELETE /platform/sessions/{session}',
  summary: 'End a console session',
  description: `${READ_ACCESS_TEXT} ${SCOPE_TEXT} ${ENDS_TEXT}`,
  auth: 'key',
  params: { session: SessionId },
  responses: okResponse('Ended', z.object({ id: SessionId }), { id: 's-9fKxWq2TbNkRzd5m' }),
  handle: async ({ params: { session: id }, identity }, platform) => {
    const scope = await visibleScope(identity, platform)
    if (await platform.sessions.end(scope, id, actorOf(identity))) return reply(200, { id })
    return err({ kind: 'not_found', what: 'This session', hint: 'This session does not exist or has already ended.' })
  },
})

const endOtherSessions = defineEndpoint({
  id: 'endOtherSessions',
  route: 'DELETE /platform/sessions/',
  summary: 'End all console sessions except the calling one',
  description: `${READ_ACCESS_TEXT} ${SCOPE_TEXT} ${ENDS_TEXT}`,
  auth: 'key',
  query: z.strictObject({
    of: z
      .enum(['own', 'account'], 'must be "own" or "account"')
      .default('own')
      .describe('`own`: sessions of the calling member or key; `account`: all that the caller can see; default `own`'),
  }),
  responses: okResponse('Ended', z.object({ ended: z.int().describe('Number of ended sessions') }), { ended: 2 }),
  handle: async ({ query: { of }, identity }, platform) => {
    const scope = of === 'own' ? ownScope(identity) : await visibleScope(identity, platform)
    const ended = await platform.sessions.endOthers(scope, identity.session?.id ?? null, actorOf(identity))
    return reply(200, { ended })
  },
})

export const SESSIONS = [ownSessions, endOwnSession, endOtherSessions]
