// `--terms credits=5000,info_requests_per_second=20`: what a plan gives or an account was promised, as the commands take
// it. What a term may be is the gateway's to judge; here is only the form.

import * as z from 'zod'

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

/** The fields as the admin API takes them; credits stay text, so that no digit is lost. */
export const TermsValue = z.string().transform((text, { addIssue }) => {
  const terms = new Map<string, unknown>()
  for (const pair of text.split(',')) {
    const [, name, value] = /^([a-z_]+)=(\S+)$/.exec(pair.trim()) ?? []
    if (name === undefined || value === undefined) {
      addIssue('must be like credits=5000,days=none')
      return z.NEVER
    }
    if (terms.has(name)) {
      addIssue(`has "${name}" twice`)
      return z.NEVER
    }
    terms.set(name, name === 'credits' ? value : readValue(value))
  }
  return Object.fromEntries(terms)
})

function readValue(text: string): unknown {
  if (text === 'none') return null
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
