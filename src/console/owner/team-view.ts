// Words for members, sessions and changes of the team page. Invariant: every action of the log has words.

import type { Responses } from '../responses.ts'
import { groupedText } from '../ui/format.ts'
import * as strings from './team-strings.ts'

export type Member = Responses['listMembers']['members'][number]
export type Session = Responses['ownSessions']['sessions'][number]
type TeamEvent = Responses['listTeamEvents']['events'][number]
type Role = Member['role']

/** Name of a member or key. */
export function partyText({ email, key }: Pick<Session, 'email' | 'key'>): string {
  if (email !== null) return email
  return key === null ? strings.removedMember : strings.keyName(key)
}

/** The change in words. */
export function eventText({ action, target, detail }: Pick<TeamEvent, 'action' | 'target' | 'detail'>): string {
  const whom = target === null ? '' : partyText(target)
  const isRole = detail !== null && Object.hasOwn(strings.roles, detail)
  return strings.activityWords[action](whom, isRole ? strings.roles[detail as Role] : groupedText(detail ?? ''))
}
