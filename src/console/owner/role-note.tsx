// Says why a page is not available to a member.

import type { MemberRole } from '../../accounts/members.ts'
import * as strings from './team-strings.ts'

interface RoleNoteProps {
  readonly page: string
  readonly needed: MemberRole
  readonly role: MemberRole
}

export const RoleNote = ({ page, needed, role }: RoleNoteProps) => (
  <>
    <h1>{page}</h1>
    <p class="note">{strings.denied(page, strings.roles[needed], strings.roles[role])}</p>
  </>
)
