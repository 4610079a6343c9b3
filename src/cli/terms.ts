// `--terms credits=5000,info_requests_per_second=20`: what a plan gives or an account was promised, as the commands take
// it. What a term may be is the gateway's to judge; here is only the form.

import * as z from 'zod'
import { nearestName } from '../core/nearest.ts'

const NUMBER = /^-?\d+(\.\d+)?$/

/** Every term: what follows `=`, and its unit and meaning. */
const TERMS: Readonly<Record<string, readonly [value: string, meaning: string]>> = {
  credits: ['N', 'credits given for each period'],
  period: ['once|month', 'they come once, or each month anew (plans alone)'],
  days: ['N|none', 'after so many days a plan of the period "once" ends (plans alone)'],
  info_requests_per_second: ['N', 'requests a second of each key to POST /info'],
  rest_requests_per_second: ['N|none', 'requests a second of each key to /platform, not to POST /info; none: no limit'],
  stream_connections: ['N', 'sockets of the account at a time'],
  stream_subscriptions: ['N', 'subscriptions of the account at a time'],
  stream_messages_per_minute: ['N', 'frames that each socket may send in a minute'],
  custom: ['true|false', 'whether terms may be agreed per account (plans alone)'],
}

/** What can be said after `--terms`, for help. */
export const TERMS_HELP = `
Terms, any of them, as name=value with commas between:
${Object.entries(TERMS)
  .map(([name, [value, meaning]]) => `  ${`${name}=${value}`.padEnd(38)}${meaning}`)
  .join('\n')}`

/** The fields as the admin API takes them; credits stay text, so that no digit is lost. All that is wrong is said at once. */
export const TermsValue = termsOf([])

/** Those of a plan: where they are refused, what a new one still needs is said too. */
export const PlanTermsValue = termsOf(['credits', 'rest_requests_per_second'])

function termsOf(needed: readonly string[]) {
  return z.string().transform((text, { addIssue }) => {
    const pairs = text.split(',').map((pair) => /^([^=]*)=?(.*)$/s.exec(pair.trim())!.slice(1) as [string, string])
    const names = pairs.map(([name]) => name)
    const twice = names.filter((name, i) => names.indexOf(name) < i).map((name) => `has "${name}" twice`)
    const wrong = [...pairs.flatMap(([name, value]) => wrongIn(name, value) ?? []), ...twice]
    if (wrong.length === 0) return Object.fromEntries(pairs.map(([name, value]) => [name, read(name, value)]))
    const missing = needed.filter((name) => !names.includes(name))
    const more = missing.length === 0 ? '' : `; a new plan needs ${missing.join(' and ')} too`
    addIssue(`must be like credits=5000,days=none: ${wrong.join('; ')}${more}`)
    return z.NEVER
  })
}

/** What is wrong with the form of a term; undefined where nothing is. */
function wrongIn(name: string, value: string): string | undefined {
  const term = Object.hasOwn(TERMS, name) ? TERMS[name] : undefined
  if (term === undefined) {
    const meant = nearestName(name, Object.keys(TERMS))
    return `there is no term ${JSON.stringify(name)}${meant === undefined ? '' : ` (did you mean ${meant}?)`}`
  }
  const fits = term[0].split('|').some((form) => (form === 'N' ? NUMBER.test(value) : form === value))
  return fits ? undefined : `${name} is ${term[0].replaceAll('|', ' or ')}`
}

function read(name: string, value: string): unknown {
  if (value === 'none') return null
  if (value === 'true' || value === 'false') return value === 'true'
  return name !== 'credits' && NUMBER.test(value) ? Number(value) : value
}
