// Members of an account, their invitations, and the audit log of both. Invariants: only owners and managing keys reach
// these calls, because they name people; the token of an invitation appears in no response.

import * as z from 'zod'
import type { Identity } from '../../../accounts/identity.ts'
import {
  INVITATIONS_PER_HOUR,
  MEMBER_ROLES,
  MEMBERS_MAX,
  PENDING_MAX,
  TEAM_ACTIONS,
  type TeamActor,
} from '../../../accounts/members.ts'
import { type KeyHash, keyHashOf } from '../../../core/ids.ts'
import { ok, type Result } from '../../../core/result.ts'
import { MANAGE_ACCESS_TEXT, managingKey } from '../account-resource.ts'
import { createdResponse, defineEndpoint, okResponse, reply } from '../endpoint.ts'
import { Before, Limit, Next, pageOf, UnixMs } from '../fields.ts'
import type { Member, Platform } from '../platform-api.ts'
import type { Refusal } from '../refusal.ts'

export const MemberId = z
  .string()
  .regex(/^m-[1-9A-HJ-NP-Za-km-z]{16}$/, 'must be an id from GET /platform/members/')
  .describe('Id of the member, `m-…`')

const Role = z
  .enum(MEMBER_ROLES, `must be one of ${MEMBER_ROLES.join(', ')}`)
  .describe(
    '`owner`: everything; `developer`: API keys, pipelines, data, logs, usage and webhooks; `billing`: usage, orders, invoices and billing details',
  )

const MemberView = z
  .object({
    id: MemberId,
    email: z.string().describe('E-mail address'),
    role: Role,
    state: z
      .enum(['joined', 'pending', 'expired'])
      .describe('`pending`: the invitation was not used yet; `expired`: it can no longer be used'),
    invited: UnixMs.describe('Time of the last invitation or of the sign-up, Unix milliseconds'),
    invitation_ends: UnixMs.nullable().describe('End of the invitation, Unix milliseconds; null: it was used'),
    joined: UnixMs.nullable().describe('Unix milliseconds; null: not joined'),
    last_seen: UnixMs.nullable().describe('Last use of the console, Unix milliseconds; null: never'),
    is_caller: z.boolean().describe('Whether this member makes the call'),
  })
  .meta({ id: 'Member' })

function memberView(member: Member, { session }: Identity, nowMs: number): z.infer<typeof MemberView> {
  const { id, email, role, invited, invited_until: ends, joined, seen } = member
  const isOver = ends === null || ends <= nowMs
  return {
    id,
    email,
    role,
    state: joined !== null ? 'joined' : isOver ? 'expired' : 'pending',
    invited,
    invitation_ends: ends,
    joined,
    last_seen: seen,
    is_caller: session?.member?.id === id,
  }
}

const EXAMPLE = {
  id: 'm-9fKxWq2TbNkRzd5m',
  email: 'kim@example.com',
  role: 'developer',
  state: 'joined',
  invited: 1790000000000,
  invitation_ends: null,
  joined: 1790000600000,
  last_seen: 1790007200000,
}
const PENDING_EXAMPLE = { ...EXAMPLE, state: 'pending', invitation_ends: 1790604800000, joined: null, last_seen: null }
const PARAMS = { member: MemberId }
const LAST_OWNER_TEXT = 'The last owner cannot be removed or get another role (409).'

export const actorOf = ({ session, keyHash }: Identity): TeamActor => ({ member: session?.member?.id ?? null, keyHash })

/** The account of the caller, who must be able to manage it, and the caller as actor. */
async function managed(
  identity: Identity,
  { keys }: Pick<Platform, 'keys'>,
): Promise<Result<{ readonly account: string; readonly by: TeamActor }, Refusal>> {
  const key = await managingKey(keys, identity.keyHash)
  return key.ok ? ok({ account: identity.account, by: actorOf(identity) }) : key
}

const listMembers = defineEndpoint({
  id: 'listMembers',
  route: 'GET /platform/members/',
  summary: 'List the members and pending invitations, oldest first',
  description: MANAGE_ACCESS_TEXT,
  auth: 'service',
  responses: okResponse(
    'The members',
    z.object({
      members: z.array(MemberView).describe(`Members and pending invitations, at most ${MEMBERS_MAX}`),
      delivery: z
        .enum(['mail', 'log'])
        .nullable()
        .describe('How invitations are delivered; `log`: to the log of the gateway; null: members cannot be invited'),
    }),
    { members: [EXAMPLE], delivery: 'mail' },
  ),
  handle: async ({ identity }, platform) => {
    const caller = await managed(identity, platform)
    if (!caller.ok) return caller
    const members = await platform.members.list(identity.account)
    const shown = members.map((member) => memberView(member, identity, platform.now()))
    return reply(200, { members: shown, delivery: platform.members.delivery })
  },
})

const inviteMember = defineEndpoint({
  id: 'inviteMember',
  route: 'POST /platform/members/',
  summary: 'Invite a member by e-mail',
  description: `${MANAGE_ACCESS_TEXT} The link in the mail works once, for seven days. An account can have ${MEMBERS_MAX} members, ${PENDING_MAX} of them pending (409), and send ${INVITATIONS_PER_HOUR} invitations per hour (429). The response does not depend on whether the address is known to the gateway.`,
  auth: 'service',
  body: {
    schema: z.strictObject({
      email: z.string('must be an e-mail address').max(300).describe('E-mail address'),
      role: Role,
    }),
    optional: false,
    example: { email: 'kim@example.com', role: 'developer' },
  },
  responses: createdResponse('The pending member', MemberView, PENDING_EXAMPLE),
  refusals: [409],
  handle: async ({ body: { email, role }, identity, origin }, platform) => {
    const caller = await managed(identity, platform)
    if (!caller.ok) return caller
    const { account, by } = caller.value
    const invited = await platform.members.invite({ account, email, role, by, origin })
    return invited.ok ? reply(201, memberView(invited.value, identity, platform.now())) : invited
  },
})

const inviteMemberAgain = defineEndpoint({
  id: 'inviteMemberAgain',
  route: 'POST /platform/members/{member}/invite',
  summary: 'Send a pending invitation again',
  description: `${MANAGE_ACCESS_TEXT} The link of the earlier mail stops working. An invitation can be sent once per hour (429).`,
  auth: 'service',
  params: PARAMS,
  responses: okResponse('The pending member', MemberView, PENDING_EXAMPLE),
  refusals: [409],
  handle: async ({ params: { member: id }, identity, origin }, platform) => {
    const caller = await managed(identity, platform)
    if (!caller.ok) return caller
    const invited = await platform.members.inviteAgain({ ...caller.value, id, origin })
    return invited.ok ? reply(200, memberView(invited.value, identity, platform.now())) : invited
  },
})

const changeMember = defineEndpoint({
  id: 'changeMember',
  route: 'PATCH /platform/members/{member}',
  summary: 'Change the role of a member',
  description: `${MANAGE_ACCESS_TEXT} Takes effect with the next request of the member. ${LAST_OWNER_TEXT}`,
  auth: 'service',
  params: PARAMS,
  body: { schema: z.strictObject({ role: Role }), optional: false, example: { role: 'billing' } },
  responses: okResponse('The member', MemberView, { ...EXAMPLE, role: 'billing' }),
  refusals: [409],
  handle: async ({ params: { member: id }, body: { role }, identity }, platform) => {
    const caller = await managed(identity, platform)
    if (!caller.ok) return caller
    const changed = await platform.members.changeRole({ ...caller.value, id, role })
    return changed.ok ? reply(200, memberView(changed.value, identity, platform.now())) : changed
  },
})

const removeMember = defineEndpoint({
  id: 'removeMember',
  route: 'DELETE /platform/members/{member}',
  summary: 'Remove a member and end the sessions, or revoke an invitation',
  description: `${MANAGE_ACCESS_TEXT} ${LAST_OWNER_TEXT} Keys that the member created remain valid.`,
  auth: 'service',
  params: PARAMS,
  responses: okResponse(
    'Removed',
    z.object({ id: MemberId, email: z.string().describe('E-mail address'), removed: UnixMs }),
    { id: EXAMPLE.id, email: EXAMPLE.email, removed: 1790000000000 },
  ),
  refusals: [409],
  handle: async ({ params: { member: id }, identity }, platform) => {
    const caller = await managed(identity, platform)
    if (!caller.ok) return caller
    const removed = await platform.members.remove({ ...caller.value, id })
    return removed.ok ? reply(200, { id, email: removed.value.email, removed: platform.now() }) : removed
  },
})

const Party = z.object({
  email: z.string().nullable().describe('Member; null: a key, or a member removed over a year ago'),
  key: z.string().nullable().describe('First 12 characters of the key; null: a member'),
})

const TeamEventView = z
  .object({
    number: z.int().describe('Number, increasing'),
    at: UnixMs.describe('Time, Unix milliseconds'),
    action: z.enum(TEAM_ACTIONS).describe('What happened'),
    by: Party.describe('Who did it'),
    target: Party.nullable().describe('Member, or owner of the session, that it concerns; null: none'),
    detail: z.string().nullable().describe('New role, or number of ended sessions; null: neither'),
  })
  .meta({ id: 'TeamEvent' })

const listTeamEvents = defineEndpoint({
  id: 'listTeamEvents',
  route: 'GET /platform/members/activity',
  summary: 'List what happened to members and sessions, newest first',
  description: `${MANAGE_ACCESS_TEXT} Entries are kept for a year, at most 1,000 per account.`,
  auth: 'service',
  query: z.strictObject({ before: Before, limit: Limit }),
  responses: okResponse(
    'A page of the log',
    z.object({ events: z.array(TeamEventView).describe('Entries, newest first'), next: Next }),
    {
      events: [
        {
          number: 7,
          action: 'invite',
          by: { email: 'lee@example.com', key: null },
          target: { email: 'kim@example.com', key: null },
          detail: 'developer',
        },
      ],
    },
  ),
  handle: async ({ query: { before = Number.MAX_SAFE_INTEGER, limit }, identity }, platform) => {
    const caller = await managed(identity, platform)
    if (!caller.ok) return caller
    const { account } = identity
    const { rows, next } = pageOf(await platform.members.events(account, before, limit + 1), limit)
    const partyOf = await partiesOf(
      platform,
      account,
      rows.flatMap((row) => [row.member, row.target]),
      rows.flatMap((row) => [row.keyHash, row.targetKey]),
    )
    const events = rows.map(({ number, at, action, member, keyHash, target, targetKey, detail }) => ({
      number,
      at,
      action,
      by: partyOf(member, keyHash),
      target: target === null && targetKey === null ? null : partyOf(target, targetKey),
      detail,
    }))
    return reply(200, { events, next })
  },
})

const isText = (text: string | null): text is string => text !== null

/** Looks up the addresses of members and the prefixes of keys. */
export async function partiesOf(
  { members, keys }: Pick<Platform, 'members' | 'keys'>,
  account: string,
  memberIds: readonly (string | null)[],
  keyHashes: readonly (string | null)[],
) {
  const [emails, names] = await Promise.all([
    members.emails(account, [...new Set(memberIds.filter(isText))]),
    keys.namesByHash([...new Set(keyHashes.filter(isText))].map((hash): KeyHash => keyHashOf(hash))),
  ])
  return (member: string | null, keyHash: string | null): z.infer<typeof Party> => ({
    email: member === null ? null : (emails.get(member) ?? null),
    key: member !== null || keyHash === null ? null : (names.get(keyHashOf(keyHash))?.prefix ?? null),
  })
}

export const AuthorName = z.string().nullable()
export const AUTHOR_TEXT = 'Who made the change: address of the member, or else prefix of the key before its rotations'

/** A stored change. `by`: prefix of the key. */
interface AuthoredChange {
  readonly by: string | null
  readonly member: string | null
}
export type AuthorNames = (change: AuthoredChange) => z.infer<typeof AuthorName>

/** Names who made changes. A key stands for a member whose address is no longer stored. */
export async function authorNames(
  members: Pick<Platform['members'], 'emails'>,
  account: string,
  changes: readonly AuthoredChange[],
): Promise<AuthorNames> {
  const ids = [...new Set(changes.map(({ member }) => member).filter(isText))]
  const emails = ids.length === 0 ? null : await members.emails(account, ids)
  return ({ by, member }) => (member !== null && emails?.get(member)) || by
}

export const MEMBERS = [listMembers, inviteMember, inviteMemberAgain, changeMember, removeMember, listTeamEvents]
