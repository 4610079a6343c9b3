// How many links of the sign-up a day has, and for whom. Invariants: one network (/24 or /48) and one domain of mailboxes
// have a part of the day's links each; the last quarter is for networks that had none today, so that nobody closes the
// sign-up for everybody; whoever has an account gets a link to it however many others ask.

/** Links of the last day: in all, of the caller's network, of the mailbox's domain. */
export interface LinksOfDay {
  readonly all: number
  readonly area: number
  readonly domain: number
}

/** Why a mailbox without an account gets no link now. */
export type NoLink = 'day' | 'reserve' | 'area' | 'domain'

const AREA_PART = 1 / 10
const DOMAIN_PART = 1 / 4
const RESERVE_PART = 1 / 4
/** Small gateways, too, serve an office. */
const LEAST = 5

/** Null: there is a link. */
export function refusedLink({ all, area, domain }: LinksOfDay, perDay: number): NoLink | null {
  if (all >= perDay) return 'day'
  if (area >= Math.max(LEAST, perDay * AREA_PART)) return 'area'
  if (domain >= Math.max(LEAST, perDay * DOMAIN_PART)) return 'domain'
  // Of callers whose network nobody knows the domain has to be new.
  return all >= perDay * (1 - RESERVE_PART) && area > 0 ? 'reserve' : null
}

/** What the operator is to be told when the day had so many, null where nothing new is to be told. */
export function signUpAlert(before: number, after: number, perDay: number): string | null {
  const passed = (part: number) => before < perDay * part && after >= perDay * part
  if (passed(1)) return `sign-up: all ${perDay} links of the day are used; only owners of accounts get more`
  if (passed(1 - RESERVE_PART))
    return `sign-up: ${after} of ${perDay} links of the day are used; the rest is for networks that had none today`
  return null
}
