// Pages of the console that a role cannot use. The gateway rejects their calls anyway.

import type { MemberRole } from '../../accounts/members.ts'

/** By role: the role that is needed, and the pages. */
const DENIED: Readonly<Record<string, readonly [needed: MemberRole, pages: string]>> = {
  developer: ['billing', 'billing'],
  billing: ['developer', 'keys logs activity pipelines data explorer graphql'],
}

/** Role, besides owner, that a page needs; null: this role can use it. Keys have no role. */
export function neededRole(page: string, role: MemberRole | null): MemberRole | null {
  const [needed, pages] = DENIED[role ?? ''] ?? []
  return needed !== undefined && pages?.split(' ').includes(page) ? needed : null
}
