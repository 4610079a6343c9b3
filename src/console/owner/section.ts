// Props of the sections of the owner pages.

import type { SessionUser } from '../../accounts/sessions/session.ts'
import type { Account } from './responses.ts'

export type Owner = Extract<SessionUser, { role: 'owner' }>

export interface SectionProps {
  /** Null until it is loaded. */
  readonly account: Account | null
  readonly owner: Owner
}
