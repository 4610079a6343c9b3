// Words of the team page.

import { expect, it } from 'vitest'
import { MEMBER_ROLES, TEAM_ACTIONS } from '../../src/accounts/members.ts'
import { neededRole } from '../../src/console/owner/role-pages.ts'
import { activityWords, roles } from '../../src/console/owner/team-strings.ts'
import { eventText, partyText } from '../../src/console/owner/team-view.ts'

const kim = { email: 'kim@example.com', key: null }

it('every action and every role has words', () => {
  expect(Object.keys(activityWords).sort()).toEqual([...TEAM_ACTIONS].sort())
  expect(Object.keys(roles).sort()).toEqual([...MEMBER_ROLES].sort())
})

it.each([
  ['invite', kim, 'billing', 'Invited kim@example.com as Billing'],
  ['change_role', kim, 'owner', 'Changed the role of kim@example.com to Owner'],
  ['end_session', { email: null, key: 'cqs_9fKxWq2T' }, null, 'Ended a session of Key cqs_9fKxWq2T…'],
  ['end_sessions', null, '1', 'Ended 1 session'],
  ['end_sessions', null, '1200', 'Ended 1,200 sessions'],
  ['remove', { email: null, key: null }, null, 'Removed a former member'],
] as const)('%s of %j is in words', (action, target, detail, expected) => {
  expect(eventText({ action, target, detail })).toBe(expected)
})

it('a member without a stored address is named as such', () => {
  expect(partyText({ email: null, key: null })).toBe('a former member')
})

it('keys and owners have all pages, and other roles those of their work', () => {
  const pages = [
    'home',
    'usage',
    'keys',
    'logs',
    'activity',
    'pipelines',
    'data',
    'explorer',
    'graphql',
    'billing',
    'alerts',
    'team',
  ]
  const deniedTo = (role: (typeof MEMBER_ROLES)[number] | null) =>
    pages.filter((page) => neededRole(page, role) !== null)
  expect([deniedTo(null), deniedTo('owner')]).toEqual([[], []])
  expect(deniedTo('developer')).toEqual(['billing'])
  expect(deniedTo('billing')).toEqual(['keys', 'logs', 'activity', 'pipelines', 'data', 'explorer', 'graphql'])
})
